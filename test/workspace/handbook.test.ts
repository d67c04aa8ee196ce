import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinBlocks, parseHandbook, renderBlock, scopeOf } from '../../scripts/workspace/handbook.ts';
import { lineHash, normaliseLine, unitsOf } from '../../scripts/workspace/lines.ts';
import { formatReference, parseReference } from '../../scripts/workspace/reference.ts';
import { a, aBlock, aReference, aRow, b, first, repo } from './samples.ts';

function whole(text: string): string {
  const { preamble, blocks } = parseHandbook(text);
  return preamble + blocks.map(({ raw }) => raw).join('');
}

test('a block is read with everything that the schema names', () => {
  const block = parseHandbook(aBlock()).blocks[0];
  assert.ok(block);
  assert.equal(block.title, 'The build');
  assert.equal(block.scopeLine, 'building and testing');
  assert.deepEqual(block.appliesTo, { repo, cwd: '.', reuseRule: 'holds for this checkout' });
  assert.deepEqual(block.tasks, [
    {
      number: 1,
      title: 'Fix the build, success',
      outcome: 'success',
      summaryFiles: [`rollout_summaries/${aRow(first).stem}.md`],
      keywords: ['build', 'tests'],
      line: 5,
    },
  ]);
  assert.deepEqual(block.preferences[0], {
    text: 'when the build fails, show the log first',
    raw: `- when the build fails, show the log first [${a}@1]`,
    evidence: [{ thread: a, items: ['1'] }],
    supersedes: [],
    line: 12,
  });
  assert.deepEqual(block.failures[0]?.evidence, [{ thread: a, items: ['3', '4'] }]);
});

test('whatever a person writes, the parts joined are the text again', () => {
  const texts = [
    '',
    'words\n',
    `preamble\n\n${aBlock()}\n${aBlock({ title: 'Two' })}`,
    `${aBlock()}# Our notes\n\nprose\n\n- a bullet\n## heading\n\n${aBlock({ title: 'Two' })}`,
    `${aBlock().trimEnd()}`,
    `${aBlock()}\n\n\n\n`,
    aBlock({ knowledge: ['- 使用 pnpm 构建', '  第二行', '', '- اختبر قبل الدفع'] }),
    '# Task Group:\n## Task\n###\n-\n* x\n\t- y\n```\n# Task Group: in a fence\n',
    '\n# \n#\n#x\n',
  ];
  for (const text of [...texts, ...texts.map((each) => each.replace(/\n/g, '\r\n'))]) assert.equal(whole(text), text);
});

test('CRLF reads as LF does', () => {
  const [lf, crlf] = [aBlock(), aBlock().replace(/\n/g, '\r\n')].map((text) => parseHandbook(text).blocks[0]);
  assert.deepEqual({ ...crlf, raw: '', lines: [] }, { ...lf, raw: '', lines: [] });
  assert.deepEqual(crlf?.lines, lf?.lines);
});

test('a heading inside a code fence begins no block, but a task group always does', () => {
  const text = `${aBlock({ knowledge: ['- run', '  ```sh', '# comment', 'make', '  ```', `  end [${a}@3]`] })}`;
  assert.equal(parseHandbook(text).blocks.length, 1);
  assert.equal(parseHandbook(text).blocks[0]?.knowledge.length, 1);
  const open = `${aBlock({ knowledge: ['- run', '```sh', 'make'] })}\n${aBlock({ title: 'Next' })}`;
  assert.deepEqual(
    parseHandbook(open).blocks.map(({ title }) => title),
    ['The build', 'Next'],
  );
});

test('a bullet goes on over indented lines, and a new section ends it', () => {
  const block = parseHandbook(aBlock({ knowledge: ['- one', '  more', '', `  and more [${a}@3]`, '- two'] })).blocks[0];
  assert.deepEqual(
    block?.knowledge.map(({ text }) => text),
    ['one more  and more', 'two'].map((text) => text.replace('  ', ' ')),
  );
});

test('a section of a person’s own belongs to no scope', () => {
  const [own] = parseHandbook('# Our notes\napplies_to: repo=x; cwd=.; reuse_rule=y\n').blocks;
  assert.ok(own);
  assert.equal(scopeOf(own), null);
  const [group] = parseHandbook('# Task Group: x\nwords\n').blocks;
  assert.ok(group);
  assert.equal(scopeOf(group), null);
});

test('a rendered block reads back', () => {
  const text = renderBlock({
    title: 'Deploying',
    scopeLine: 'deploys',
    appliesTo: { repo, cwd: 'web', reuseRule: 'same host' },
    tasks: [{ title: 'Deploy, partial', references: [aReference(first)], keywords: ['deploy', 'ssh'] }],
    bullets: { preferences: [], knowledge: [`the host is blue [${b}@2]`], failures: [] },
  });
  const block = parseHandbook(text).blocks[0];
  assert.equal(block?.tasks[0]?.outcome, 'partial');
  assert.deepEqual(block?.knowledge[0]?.evidence, [{ thread: b, items: ['2'] }]);
  assert.ok(!text.includes('## User preferences'));
});

test('a reference keeps commas, brackets of a note and unknown order', () => {
  const line = '- rollout_summaries/x.md (cwd=a, b/c, rollout_path=p, thread_id=t, updated_at=u, the retry, at last)';
  assert.deepEqual(parseReference(line), {
    file: 'rollout_summaries/x.md',
    fields: { cwd: 'a, b/c', rollout_path: 'p', thread_id: 't', updated_at: 'u' },
    note: 'the retry, at last',
  });
  assert.equal(parseReference('- see the summary'), null);
  const again = parseReference(formatReference('rollout_summaries/x.md', { cwd: 'a, b/c' }, 'note'));
  assert.deepEqual(again?.fields, {
    cwd: 'a, b/c',
    rollout_path: 'unknown',
    updated_at: 'unknown',
    thread_id: 'unknown',
  });
  assert.equal(again?.note, 'note');
});

test('a line is the same with another marker, evidence, case or white space', () => {
  assert.equal(lineHash(`* Use  pnpm,\n  always [${a}@1]`), lineHash('- use pnpm, always'));
  assert.notEqual(lineHash('- use pnpm'), lineHash('- use npm'));
  assert.equal(normaliseLine(`- 使用 PNPM [${a}@1] [${b}@2]`), '使用 pnpm');
});

test('units are what somebody wrote, not what the schema prescribes', () => {
  const text = aBlock({ knowledge: ['- one', 'lazy', '', 'prose', '### a heading', '- two'] });
  const block = parseHandbook(text).blocks[0];
  assert.ok(block);
  assert.deepEqual(
    unitsOf(block)
      .filter(({ heading }) => heading === '## Reusable knowledge')
      .map(({ kind, raw }) => [kind, raw]),
    [
      ['bullet', '- one\nlazy'],
      ['prose', 'prose'],
      ['heading', '### a heading'],
      ['bullet', '- two'],
    ],
  );
});

test('blocks are joined with one blank line and nothing else changed', () => {
  assert.equal(joinBlocks('', ['# a\n', '# b']), '# a\n\n# b\n');
  assert.equal(joinBlocks('p', ['# a\n\n', '# b\n']), 'p\n\n# a\n\n# b\n');
  assert.equal(joinBlocks('', []), '');
});

test('a hostile handbook is read without delay', () => {
  const lines = Array.from({ length: 100_000 }, (_, at) => (at % 3 === 0 ? `- ${'['.repeat(40)}` : '`'.repeat(at % 7)));
  assert.equal(whole(lines.join('\n')), lines.join('\n'));
  const long = `# Task Group: x\n## User preferences\n- ${'a '.repeat(500_000)}[${a}@1]\n`;
  assert.equal(parseHandbook(long).blocks[0]?.preferences.length, 1);
});
