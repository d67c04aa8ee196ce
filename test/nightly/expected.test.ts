import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { citedItems, parseEvidence } from '../../scripts/shared/evidence.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { parseYaml } from '../../scripts/shared/yaml.ts';
import { command, type Ended, filesAt, nightly, over, recordedSources, root, tips } from '../support/nights.ts';
import { git, scratchRepository } from '../support/repository.ts';

interface Appears {
  readonly in: 'MEMORY.md' | 'raw' | 'summary';
  readonly words: string;
  readonly items: readonly string[];
}

interface Expected {
  readonly from: string;
  readonly bundled: boolean;
  /** `output`, `nothing` or the reason for which it is skipped. */
  readonly gives: string;
  readonly outcome?: string;
  readonly appears?: readonly Appears[];
  readonly never?: readonly string[];
}

interface NightJson {
  readonly outcome: string;
  readonly sessions: {
    readonly found: number;
    readonly extracted: readonly string[];
    readonly nothing: readonly string[];
    readonly failed: readonly unknown[];
    readonly skipped: Readonly<Record<string, string>>;
  };
}

const { value, errors } = parseYaml(readFileSync(join(root, 'test/fixtures/expected.yaml'), 'utf8'));
assert.deepEqual(errors, []);
const expected = value as { readonly never: readonly string[]; readonly sessions: Readonly<Record<string, Expected>> };
const isWhole = process.env.CTM_ROLLOUTS !== undefined;
const sessions = Object.entries(expected.sessions).filter(([, one]) => one.bundled || isWhole);
const outputs = sessions.filter(([, one]) => one.gives === 'output');

const repo = scratchRepository();
const args = [...over(repo, recordedSources()), '--model', 'builtin', '--json'];
let first: Ended;
let report: NightJson;
let memory: ReadonlyMap<string, string>;
let state = '';

before(async () => {
  first = await nightly(args);
  assert.equal(first.code, 0, first.stderr);
  report = JSON.parse(first.stdout) as NightJson;
  memory = filesAt(repo, 'main', 'memories');
  state = git(repo, 'show', 'refs/memory/state:state.sqlite.json');
});

test('each recorded session gives what a careful person expects: an output, nothing, or a reason', () => {
  const { extracted, nothing, skipped, failed } = report.sessions;
  const given = new Map([
    ...extracted.map((id) => [id, 'output'] as const),
    ...nothing.map((id) => [id, 'nothing'] as const),
    ...Object.entries(skipped),
  ]);
  assert.deepEqual(failed, []);
  assert.deepEqual(new Map([...given].sort()), new Map(sessions.map(([id, one]) => [id, one.gives] as const).sort()));
});

for (const [id, { from, outcome, appears = [] }] of outputs)
  test(`${from}, ${id.slice(-6)}: ${outcome}, and its words stand with their evidence`, () => {
    assert.ok(appears.length > 0);
    assert.match(rawOf(id), new RegExp(`^task_outcome: ${outcome}$`, 'm'));
    for (const one of appears) assertStands(id, one);
  });

test('no word of a harness, a sub-agent, an instruction file or a vendor is anywhere in memory or state', () => {
  const everywhere = [...memory, ['the state', state] as const];
  const found = [...expected.never, ...sessions.flatMap(([, one]) => one.never ?? [])].flatMap((words) =>
    everywhere.flatMap(([place, text]) => (holds(text, words) ? [`${place}: ${words}`] : [])),
  );
  assert.deepEqual(found, []);
  for (const [id, { never = [] }] of outputs) assert.ok(never.length > 0, id);
});

test('every line under a heading of preferences is a quotation, and its first item is the person’s', () => {
  const human = new Set(
    JSON.parse(state).tables.evidence.rows.flatMap((row: unknown[]) =>
      row.includes('human') ? [`${shortThreadId(String(row[0]))}@${row[1]}`] : [],
    ),
  );
  const bullets = sectionLines(memory.get('memories/MEMORY.md') ?? '', '## User preferences');
  assert.ok(bullets.length >= 5, 'the samples hold standing wishes');
  for (const bullet of bullets) {
    assert.match(bullet, /^- "/);
    for (const { thread, items } of parseEvidence(bullet)) assert.ok(human.has(`${thread}@${items[0]}`), bullet);
  }
});

test('check finds nothing in what the night made', async () => {
  const { code, stdout, stderr } = await command('check', ['--repo', repo, '--json']);
  assert.equal(code, 0, stdout + stderr);
  assert.deepEqual(JSON.parse(stdout).findings, [], stdout);
});

test('the object database is sound, and only the two commits and the state are new', () => {
  assert.equal(git(repo, 'fsck', '--strict', '--no-dangling'), '');
  assert.equal(git(repo, 'rev-list', '--count', 'main'), '2');
  assert.deepEqual(git(repo, 'for-each-ref', '--format=%(refname)').split('\n'), [
    'refs/heads/main',
    'refs/memory/state',
  ]);
  assert.equal(git(repo, 'status', '--porcelain'), '');
});

test('played again, also with --now, it makes no second commit, moves no ref and says why', async () => {
  const before = tips(repo);
  const { code, stdout, stderr } = await nightly(args);
  assert.equal(code, 0, stderr);
  assert.deepEqual(tips(repo), before);
  const again = JSON.parse(stdout) as NightJson;
  assert.equal(again.outcome, 'quiet');
  assert.ok(
    Object.values(again.sessions.skipped).every((reason) => reason === 'up_to_date' || reason === 'no_human_words'),
  );
  const later = await nightly([...args.filter((arg) => arg !== '--json')], {
    env: { CTM_CLOCK: '2026-12-01T09:00:00Z' },
  });
  assert.match(later.stdout, /^Nothing to do: /);
  assert.deepEqual(tips(repo), before);
});

function holds(text: string, words: string): boolean {
  return text.includes(words) || text.includes(JSON.stringify(words).slice(1, -1));
}

function assertStands(id: string, { in: place, words, items }: Appears): void {
  const lines = linesIn(id, place).filter((line) => line.includes(words));
  assert.ok(lines.length > 0, `${place} of ${id} has no line with “${words}”`);
  const cited = lines.map((line) =>
    place === 'MEMORY.md'
      ? parseEvidence(line).flatMap((one) => (one.thread === shortThreadId(id) ? one.items : []))
      : citedItems(line),
  );
  assert.ok(
    cited.some((numbers) => items.every((item) => numbers.includes(item))),
    `${place} of ${id}: “${words}” rests on ${JSON.stringify(cited)}, not on ${items}`,
  );
}

function linesIn(id: string, place: Appears['in']): string[] {
  if (place === 'raw') return rawOf(id).split('\n');
  if (place === 'MEMORY.md') return (memory.get('memories/MEMORY.md') ?? '').split('\n');
  const summary = [...memory].find(([path, text]) => path.includes('/rollout_summaries/') && text.includes(id));
  return (summary?.[1] ?? '').split('\n');
}

function rawOf(id: string): string {
  const parts = (memory.get('memories/raw_memories.md') ?? '').split(/^## Thread /m);
  return parts.find((part) => part.startsWith(`\`${id}\``)) ?? assert.fail(`raw_memories.md has no ${id}`);
}

function sectionLines(text: string, heading: string): string[] {
  return text
    .split(/^(?=#)/m)
    .filter((part) => part.startsWith(heading))
    .flatMap((part) => part.split('\n').slice(1))
    .filter((line) => line.trim() !== '');
}
