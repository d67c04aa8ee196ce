import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Finding } from '../../scripts/check/finding.ts';
import { checkJson, checkMarkdown, checkText, outcomeOf } from '../../scripts/check/report.ts';
import { check } from '../../scripts/check/run.ts';
import { committedTree, type Tree } from '../../scripts/check/tree.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { emptyState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { aMemory } from '../support/memories.ts';
import { env } from '../support/repository.ts';
import { alone } from '../support/sample-memory.ts';
import { joined, made } from '../support/secrets.ts';

const handbook = 'memories/MEMORY.md';
const raw = 'memories/raw_memories.md';
const state = 'state.sqlite.json';

async function theTree(t: TestContext): Promise<Tree> {
  const repository = await openRepository(await aMemory(t), { env });
  return committedTree(repository, (await repository.head()).oid);
}

function edited(tree: Tree, path: string, edit: (text: string) => string | null): Tree {
  const files = new Map(tree.files);
  const text = edit(files.get(path) ?? '');
  if (text === null) files.delete(path);
  else files.set(path, text);
  return { ...tree, files };
}

function replaced(tree: Tree, path: string, was: string | RegExp, is: string): Tree {
  return edited(tree, path, (text) => {
    assert.notEqual(text.replace(was, is), text, String(was));
    return text.replace(was, is);
  });
}

/** `severity rule path:line`, without what else is wrong because of it. */
function rules(findings: readonly Finding[]): string[] {
  return findings.map(({ severity, rule, path }) => `${severity} ${rule} ${path}`);
}

function firstSummary(tree: Tree): string {
  return [...tree.files.keys()].find((path) => path.startsWith('memories/rollout_summaries/')) ?? '';
}

function lineOf(tree: Tree, path: string, words: string): number {
  return (tree.files.get(path) ?? '').split('\n').findIndex((line) => line.includes(words)) + 1;
}

test('what a night made is clean, and the report says how much was looked at', async (t) => {
  const report = await check(await theTree(t), alone);
  assert.deepEqual(report.findings, []);
  assert.equal(outcomeOf(report), 'clean');
  assert.match(
    checkText(report),
    /^Clean: \d+ memory files \(\d+ blocks, \d+ bullets, \d+ summaries\) and a state of \d+ KB/,
  );
  assert.ok(report.blocks > 3 && report.bullets > 10 && report.summaries > 5);
});

test('a memory that does not exist yet is clean and says so', async () => {
  const report = await check({ files: new Map(), odd: [] }, alone);
  assert.equal(outcomeOf(report), 'no_memory');
  assert.match(checkText(report), /there is no memory yet/);
});

test('a conflict is named at its line, in what people write, in what code makes and in the state', async (t) => {
  const tree = await theTree(t);
  const marks = (text: string) => text.replace('\n', '\n<<<<<<< HEAD\n=======\n>>>>>>> theirs\n');
  const people = await check(edited(tree, handbook, marks), alone);
  assert.ok(people.findings.some(({ rule, line }) => rule === 'text.conflict' && line === 2));
  const code = await check(edited(tree, raw, marks), alone);
  assert.deepEqual(rules(code.findings), [`error input.conflict ${raw}`]);
  const rows = await check(edited(tree, state, marks), alone);
  assert.deepEqual(rules(rows.findings), [`error state.damaged ${state}`]);
  assert.equal(rows.findings[0]?.line, 2);
  assert.match(rows.findings[0]?.message ?? '', /conflict/);
});

test('a summary that is gone leaves a reference and a section that lead nowhere', async (t) => {
  const tree = await theTree(t);
  const report = await check(
    edited(tree, firstSummary(tree), () => null),
    alone,
  );
  const found = new Set(report.findings.map(({ rule }) => rule));
  assert.ok(found.has('reference.exists') && found.has('input.pair'));
  assert.equal(outcomeOf(report), 'errors');
});

test('a summary without a section, and two of one session, are told', async (t) => {
  const tree = await theTree(t);
  const path = firstSummary(tree);
  const twice = edited(
    tree,
    'memories/rollout_summaries/2020-01-01T00-00-00-0000-copy.md',
    () => tree.files.get(path) ?? '',
  );
  assert.ok((await check(twice, alone)).findings.some(({ rule }) => rule === 'input.twice'));
  const id = /^thread_id: (.+)$/m.exec(tree.files.get(path) ?? '')?.[1] ?? '';
  const lost = replaced(tree, raw, `## Thread \`${id}\``, '## Thread of nobody');
  assert.ok((await check(lost, alone)).findings.some(({ rule, path: at }) => rule === 'input.pair' && at === path));
  const headless = replaced(tree, path, /^thread_id: .+$/m, 'thread_id: another');
  assert.ok((await check(headless, alone)).findings.some(({ rule }) => rule === 'input.head'));
});

test('evidence that no session has is an error at its line', async (t) => {
  const tree = await theTree(t);
  const mark = /\[([a-z2-7]{8})@\d+/.exec(tree.files.get(handbook) ?? '')?.[0] ?? '';
  const wrong = replaced(tree, handbook, mark, `${mark.split('@')[0]}@99999`);
  const report = await check(wrong, alone);
  assert.deepEqual(rules(report.findings), [`error evidence.unknown ${handbook}`]);
  assert.equal(report.findings[0]?.line, lineOf(wrong, handbook, '@99999'));
});

test('a line that a person wrote since the last night needs no evidence; a mark that names nothing is a warning', async (t) => {
  const tree = await theTree(t);
  const heading = '## Reusable knowledge\n';
  const added = replaced(
    tree,
    handbook,
    heading,
    `${heading}- Ask Kim before a release.\n- The port is 4711 [aaaaaaaa@7].\n`,
  );
  assert.deepEqual(
    new Set(rules((await check(added, alone)).findings)),
    new Set([`error bullet.evidence ${handbook}`, `error evidence.unknown ${handbook}`]),
  );
  const known = await check(added, { ...alone, lastNight: tree.files });
  assert.deepEqual(rules(known.findings), [`warning evidence.unknown ${handbook}`]);
  assert.equal(outcomeOf(known), 'warnings');
});

test('a file that has no place below memories/ is named', async (t) => {
  const report = await check(
    edited(await theTree(t), 'memories/run.sh', () => 'echo\n'),
    alone,
  );
  assert.deepEqual(rules(report.findings), ['error path.unknown memories/run.sh']);
});

test('a secret is found wherever it stands, and no report shows it', async (t) => {
  const tree = await theTree(t);
  const key = joined('gh', 'p_', made(36));
  const summary = firstSummary(tree);
  for (const path of [summary, raw, state, 'memories/extensions/team/notes.md']) {
    const leaky =
      path === state
        ? replaced(tree, path, '"Two tests', `"${key} Two tests`)
        : edited(tree, path, (text) => `${text}\n${key}\n`);
    const report = await check(leaky, alone);
    const secret = report.findings.find(({ rule }) => rule.startsWith('secret.'));
    assert.deepEqual([secret?.path, secret?.line], [path, lineOf(leaky, path, key)]);
    for (const text of [checkText(report), checkMarkdown(report), JSON.stringify(checkJson(report))])
      assert.ok(!text.includes(key));
  }
});

test('a state that a night would write in another way was changed by hand', async (t) => {
  const tree = replaced(await theTree(t), state, /^\["/m, '[ "');
  const [finding] = (await check(tree, alone)).findings;
  assert.equal(finding?.rule, 'state.bytes');
  assert.equal(finding?.line, lineOf(tree, state, '[ "'));
});

test('a damaged state names the line and the way back, a newer one the update; evidence is then not judged', async (t) => {
  const tree = await theTree(t);
  const damaged = await check(replaced(tree, state, /^\["/m, '{"'), alone);
  assert.deepEqual(rules(damaged.findings), [`error state.damaged ${state}`]);
  assert.match(damaged.findings[0]?.remedy ?? '', /git checkout <last good>/);
  const newer = await check(replaced(tree, state, /"schema":\d+/, '"schema":999'), alone);
  assert.deepEqual(rules(newer.findings), [`error state.newer ${state}`]);
  assert.match(newer.findings[0]?.remedy ?? '', /git pull/);
  const none = await check(
    edited(tree, state, () => null),
    alone,
  );
  assert.deepEqual(rules(none.findings), [`error state.missing ${state}`]);
});

test('the state ref is judged as well, with its own way back, and it knows more than the published copy', async (t) => {
  const tree = await theTree(t);
  const text = tree.files.get(state) ?? '';
  const old = edited(tree, state, () => snapshotOfNothing);
  assert.deepEqual((await check(old, { ...alone, stateOfRef: text })).findings, []);
  const report = await check(tree, { ...alone, stateOfRef: `${text}more` });
  assert.deepEqual(rules(report.findings), ['error state.damaged refs/memory/state']);
  assert.match(report.findings[0]?.remedy ?? '', /git update-ref refs\/memory\/state/);
});

test('sessions that the state does not know are named', async (t) => {
  const report = await check(
    edited(await theTree(t), state, () => snapshotOfNothing),
    alone,
  );
  assert.ok(report.findings.some(({ rule }) => rule === 'input.unknown'));
});

test('what a proposal that nobody has merged let go of is known where it stands still, and in no change', async (t) => {
  const tree = await theTree(t);
  const ahead = { ...alone, stateOfRef: snapshotOfNothing };
  assert.deepEqual((await check(tree, ahead)).findings, []);
  const bare = edited(
    edited(tree, firstSummary(tree), () => null),
    handbook,
    () => null,
  );
  const changed = await check(tree, { ...ahead, base: edited(bare, state, () => snapshotOfNothing) });
  const told = new Set(changed.findings.map(({ rule }) => rule));
  assert.ok(told.has('input.unknown') && told.has('evidence.unknown'), 'its own copy of the state is not asked');
});

test('a state that is too large is told with the remedy, whatever else is wrong with it', async () => {
  const report = await check({ files: new Map([[state, 'x'.repeat(30_000_001)]]), odd: [] }, alone);
  assert.deepEqual(rules(report.findings), [`error state.damaged ${state}`, `warning state.size ${state}`]);
});

const snapshotOfNothing = snapshotOf(await emptyState());
