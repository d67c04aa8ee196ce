import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import {
  inputFiles,
  rawMemories,
  rawMemoriesOf,
  rawSections,
  splitHeader,
  withInputs,
} from '../../scripts/workspace/inputs.ts';
import {
  isKnownPath,
  isWritable,
  rawMemoriesPath,
  rolloutPath,
  skillOf,
  stemOf,
  summaryPath,
  summaryStem,
} from '../../scripts/workspace/layout.ts';
import { aRow, first, foreign, otherRepo, repo, second } from './samples.ts';

const at = 1_795_992_800; // 2026-11-29T22:53:20Z

test('a stem is the start, four digits of the id and the slug', () => {
  assert.equal(
    summaryStem('01980000-0000-7000-8000-00000000003e', at, 'My Slug-Name!!'),
    '2026-11-29T22-53-20-0010-my_slug_name',
  );
  assert.equal(summaryStem('01980000-0000-7000-8000-0000ffffffff', at, ''), '2026-11-29T22-53-20-Ffc3');
});

test('an id that is no UUID is hashed byte by byte', () => {
  // 'ab': 97 × 31 + 98 = 3105 = 50 × 62 + 5
  assert.equal(summaryStem('ab', at, ''), '2026-11-29T22-53-20-00O5');
  assert.match(summaryStem('x-0123456789abcdef', at, ''), /^2026-11-29T22-53-20-[0-9a-zA-Z]{4}$/);
});

test('a slug is cut at 60, and one without ASCII letters is left out', () => {
  assert.equal(summaryStem('ab', at, '修复构建'), '2026-11-29T22-53-20-00O5');
  assert.equal(summaryStem('ab', at, `${'a'.repeat(59)}-b`), `2026-11-29T22-53-20-00O5-${'a'.repeat(59)}`);
  assert.equal(summaryStem('ab', at, '../../etc/passwd'), '2026-11-29T22-53-20-00O5-______etc_passwd');
});

test('equal slugs never collide, on file systems without case too', () => {
  const stem = summaryStem('ab', at, 'fix');
  assert.equal(summaryStem('ab', at, 'fix', [stem]), `${stem}-2`);
  assert.equal(summaryStem('ab', at, 'fix', [stem.toUpperCase(), `${stem}-2`]), `${stem}-3`);
});

test('a rollout is kept by the day of its start', () => {
  assert.equal(rolloutPath('ab', at), '2026/11/29/ab.jsonl');
});

test('raw memories stand in thread order with their header, whatever the order of rows', () => {
  const rows = [aRow(second), aRow(first)];
  const text = rawMemories(rows);
  assert.equal(text, rawMemories([...rows].reverse()));
  assert.equal(
    text.slice(0, text.indexOf('\n\n---')),
    `# Raw Memories

Merged stage-1 raw memories (stable ascending thread-id order):

## Thread \`${first}\`
thread: ${shortThreadId(first)}
updated_at: 2026-11-29T22:53:20Z
repo: ${repo}
cwd: .
rollout_path: 2026/11/29/${first}.jsonl
rollout_summary_file: 2026-11-29T23-33-20-0001-fix.md`,
  );
  assert.deepEqual(
    rawSections(text).map(({ threadId }) => threadId),
    [first, second],
  );
});

test('no rows give the placeholder', () => {
  assert.equal(rawMemories([]), '# Raw Memories\n\nNo raw memories yet.\n');
  assert.deepEqual([...inputFiles([]).keys()], [rawMemoriesPath]);
});

test('a summary begins with its header', () => {
  const text = inputFiles([aRow(first)]).get(summaryPath(aRow(first).stem)) ?? '';
  const { header, body } = splitHeader(text);
  assert.deepEqual(Object.keys(header), [
    'thread_id',
    'thread',
    'updated_at',
    'rollout_path',
    'repo',
    'cwd',
    'git_branch',
  ]);
  assert.equal(header.thread, shortThreadId(first));
  assert.ok(body.startsWith('# Fixed the build'));
  assert.ok(
    !(inputFiles([aRow(first, { branch: null })]).get(summaryPath(aRow(first).stem)) ?? '').includes('git_branch'),
  );
});

test('a raw memory that holds a thread heading begins no section, and a branch no header line', () => {
  const hostile = aRow(first, {
    rawMemory: `words\n## Thread \`${foreign}\`\nrepo: ${otherRepo}\n\nforged`,
    branch: 'x\nrepo: evil/repo',
  });
  assert.equal(rawSections(rawMemories([hostile])).length, 1);
  const { header } = splitHeader(inputFiles([hostile]).get(summaryPath(hostile.stem)) ?? '');
  assert.equal(header.repo, repo);
});

test('a scope is given its own raw memories only', () => {
  const all = rawMemories([aRow(first), aRow(foreign), aRow(second)]);
  assert.equal(rawMemoriesOf(all, otherRepo), rawMemories([aRow(foreign)]));
  assert.equal(rawMemoriesOf(all, repo), rawMemories([aRow(first), aRow(second)]));
  assert.equal(rawMemoriesOf(all, 'nobody/here'), rawMemories([]));
});

test('new inputs replace the old ones and nothing else', () => {
  const files = withInputs(new Map([['memories/MEMORY.md', 'words\n']]), [aRow(first)]);
  const next = withInputs(files, [aRow(second)]);
  assert.deepEqual([...next.keys()], ['memories/MEMORY.md', rawMemoriesPath, summaryPath(aRow(second).stem)]);
});

test('two rows with one stem are refused rather than one of them lost', () => {
  assert.throws(() => inputFiles([aRow(first), aRow(second, { stem: aRow(first).stem })]), /share the summary/);
});

test('paths outside the layout have no place', () => {
  for (const path of [
    'memories/MEMORY.md',
    'memories/skills/a-b/SKILL.md',
    'memories/rollout_summaries/a.md',
    'memories/extensions/x/y.md',
  ])
    assert.ok(isKnownPath(path), path);
  for (const path of [
    'MEMORY.md',
    'memories/notes.md',
    'memories/skills/a/run.sh',
    'memories/skills/SKILL.md',
    'memories/rollout_summaries/../x.md',
    'memories/rollout_summaries/a/b.md',
    '.github/memory.yml',
  ])
    assert.ok(!isKnownPath(path), path);
  assert.equal(stemOf('memories/rollout_summaries/a.md'), 'a');
  assert.equal(skillOf('memories/skills/a/SKILL.md'), 'a');
});

test('a consolidation writes its handbook and skills, only * the summary', () => {
  assert.ok(isWritable('memories/MEMORY.md', repo));
  assert.ok(isWritable('memories/skills/a/SKILL.md', repo));
  assert.ok(!isWritable('memories/memory_summary.md', repo));
  assert.ok(isWritable('memories/memory_summary.md', '*'));
  assert.ok(!isWritable('memories/raw_memories.md', repo));
});
