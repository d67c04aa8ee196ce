import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { catalogue } from '../../scripts/check/catalogue.ts';
import { type CheckBasis, check } from '../../scripts/check/run.ts';
import type { Tree } from '../../scripts/check/tree.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { openState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { evidenceKey, setTombstone } from '../../scripts/state/tombstones.ts';
import { alone, handbook, sampleTree, state } from '../support/sample-memory.ts';
import { openSamples } from '../support/sessions.ts';

let tree: Tree;

before(async () => {
  tree = await sampleTree();
});

/** The handbook with something put in the place of a text that is there. */
function edited(was: string | RegExp, is: string): Tree {
  const text = tree.files.get(handbook) ?? '';
  const next = text.replace(was, is);
  assert.notEqual(next, text, String(was));
  return { ...tree, files: new Map([...tree.files, [handbook, next]]) };
}

async function rulesOf(now: Tree, basis: Partial<CheckBasis> = {}): Promise<string[]> {
  const { findings } = await check(now, { ...alone, ...basis });
  return findings.map(({ severity, rule }) => `${severity} ${rule}`);
}

const correction = '01a229b1-c5f6-7ca0-8a1d-0d4b795e591b';
const pricing = '01a229b0-a4cb-70d0-9c00-6fba5df96ff3';
const [etl, lib] = [shortThreadId(correction), shortThreadId(pricing)];

test('the memory of the recorded sessions is clean, by what phase 1 wrote and by the sessions themselves', async () => {
  const told = await check(tree, alone);
  assert.deepEqual(told.findings, []);
  assert.ok(told.ground.byExtract >= 20 && told.ground.unseen === 0 && told.ground.authority.human >= 3);
  const heard = await check(tree, { ...alone, rollouts: openSamples() });
  assert.deepEqual(heard.findings, []);
  assert.ok(heard.ground.byRollout >= 20 && heard.ground.byExtract === 0);
});

/** Rule → a line for the sessions' handbook that breaks it. */
const planted: readonly (readonly [rule: string, section: string, line: string])[] = [
  ['evidence.quote', 'Reusable knowledge', `- the person said "Never add a dependency without asking" [${etl}@35]`],
  ['evidence.speaker', 'User preferences', `- "ModuleNotFoundError: No module named 'tenacity'" [${etl}@35,25]`],
  ['evidence.speaker', 'Reusable knowledge', `- the user wants the module tenacity [${etl}@25]`],
  ['evidence.command', 'Reusable knowledge', `- verified with \`make release-candidate --all\` (exit 0) [${etl}@49]`],
  ['evidence.raised', 'User preferences', `- imports stand at the top, sorted by length [${etl}@35]`],
  ['evidence.authority', 'User preferences', `- run it with the inline interpreter [${etl}@22]`],
  ['evidence.unknown', 'Reusable knowledge', `- it is so [${etl}@99999]`],
  ['evidence.scope', 'Reusable knowledge', `- it is so [${lib}@8]`],
  ['bullet.evidence', 'Reusable knowledge', '- it is so'],
  ['evidence.supersedes', 'Reusable knowledge', `- it is not so (supersedes ${etl}@35) [${etl}@49]`],
];

for (const [rule, section, line] of planted) {
  test(`a line that breaks ${rule} is found: ${line.slice(0, 60)}`, async () => {
    const text = tree.files.get(handbook) ?? '';
    const at = text.indexOf('# Task Group: git.example.test/acme/etl-job');
    const from = text.indexOf(`## ${section}\n`, at) + `## ${section}\n`.length;
    const now = {
      ...tree,
      files: new Map([...tree.files, [handbook, `${text.slice(0, from)}${line}\n${text.slice(from)}`]]),
    };
    assert.deepEqual(await rulesOf(now), [`error ${rule}`]);
    assert.deepEqual(await rulesOf(now, { rollouts: openSamples() }), [`error ${rule}`]);
  });
}

test('a line that a later one supersedes is found beside it', async () => {
  const heading = '## Reusable knowledge\n';
  const now = edited(heading, `${heading}- it was so [${etl}@22]\n- it is not so (supersedes ${etl}@22) [${etl}@49]\n`);
  assert.ok((await rulesOf(now)).includes('error evidence.superseded'));
});

test('a changed quotation in a line of the memory is found, and so is one whose negation was left out', async () => {
  assert.deepEqual(
    await rulesOf(edited('Never add dependencies to this repo', 'Never add big dependencies to this repo')),
    ['error evidence.quote'],
  );
  const cut = edited(
    /"No, that's wrong\.[^"]*Never add dependencies to this repo\.[^"]*"/,
    '"add dependencies to this repo"',
  );
  assert.deepEqual(await rulesOf(cut), ['error evidence.quote']);
});

test('what was forgotten does not come back, unless a person writes it', async () => {
  const hidden = await openState(tree.files.get(state) ?? '');
  const row = { reason: 'removed', runId: null, pullRequest: null, setAt: 1 };
  const scope = 'git.example.test/acme/log-tools';
  const [thread, n] = ['01a229b3-d5bf-73b3-bd40-05adfb3131ea', '8'];
  setTombstone(hidden, { ...row, kind: 'evidence', key: evidenceKey(thread, n, scope) });
  const stateOfRef = snapshotOf(hidden);
  assert.deepEqual(await rulesOf(tree, { stateOfRef }), ['error evidence.forgotten']);
  const without = edited(/^- "I prefer POSIX sh[^\n]*\n/m, '');
  assert.deepEqual(await rulesOf(tree, { stateOfRef, lastNight: without.files }), ['warning evidence.forgotten']);
  setTombstone(hidden, { ...row, kind: 'thread', key: thread });
  const rules = await rulesOf(without, { stateOfRef: snapshotOf(hidden) });
  assert.ok(rules.includes('error evidence.forgotten'), rules.join());
});

test('two lines that say nearly the same, or that cannot both hold, are told', async () => {
  const heading = '## Reusable knowledge\n';
  const twice = (a: string, b: string) => edited(heading, `${heading}- ${a} [${etl}@49]\n- ${b} [${etl}@49]\n`);
  const pair = async (a: string, b: string) =>
    (await rulesOf({ ...twice(a, b) }, { lastNight: tree.files })).filter((rule) => rule.includes('bullet.'));
  assert.deepEqual(await pair('Run the whole suite before a release', 'Before a release run the whole suite'), [
    'warning bullet.near',
  ]);
  for (const [a, b] of [
    ['Always commit the lock file here', 'Never commit the lock file here'],
    ['Use pnpm over npm here', 'Use npm over pnpm here'],
    ['The server listens on port 4711 locally', 'The server listens on port 4712 locally'],
    ['这里必须提交锁文件', '这里不要提交锁文件'],
    ['Die Sperrdatei immer einchecken', 'Die Sperrdatei nie einchecken'],
  ] as const)
    assert.deepEqual(await pair(a, b), ['warning bullet.contradicts'], a);
  assert.deepEqual(await pair('`pytest tests/a` covers the parser', '`pytest tests/b` covers the parser'), []);
});

test('a budget is told when four fifths of it are spent', async () => {
  const long = new Map([...tree.files, ['memories/extensions/team/notes.md', 'word '.repeat(43_000)]]);
  assert.deepEqual(await rulesOf({ ...tree, files: long }), ['warning budget.near']);
});

test('a night that lost more than it can explain is refused; a person may take out what they like', async () => {
  const rest = edited(/^- (?!rollout_summaries|[\w ,./()-]+$)[^\n]*\[[a-z2-7]{8}@[^\n]*\n/gm, '');
  const lost = await check(rest, { ...alone, base: tree, lastNight: rest.files });
  const night = lost.findings.find(({ rule }) => rule === 'shrink.unexplained');
  assert.match(`${night?.severity} ${night?.message}`, /^error A night took out \d+ of the \d+ lines/);
  const person = await check(rest, { ...alone, base: tree, lastNight: tree.files });
  assert.deepEqual(
    new Set(person.findings.filter(({ rule }) => rule === 'shrink.unexplained').map(({ severity }) => severity)),
    new Set(['warning']),
  );
});

test('what is wrong where the change is proposed for is old and a warning; what the change brings is an error', async () => {
  const old = edited('## Reusable knowledge\n', '## Reusable knowledge\n- it was so\n');
  const text = old.files.get(handbook) ?? '';
  const more = {
    ...old,
    files: new Map([...old.files, [handbook, text.replace('- it was so\n', '- it was so\n- it is so\n')]]),
  };
  const { findings } = await check(more, { ...alone, base: old });
  assert.deepEqual(
    findings.map(({ severity, rule, isOld }) => `${severity} ${rule} ${isOld}`),
    ['warning bullet.evidence true', 'error bullet.evidence false'],
  );
});

test('authority is computed from the items, and a line has no more than they', async () => {
  const { ground } = await check(tree, { ...alone, rollouts: openSamples() });
  const { human, observed, agent, external } = ground.authority;
  assert.equal(human + observed + agent + external, ground.byRollout);
  assert.ok(human > 0 && observed > human);
});

test('every rule that is told has its meaning, an example and a remedy', () => {
  for (const [rule, { meaning, example, remedy }] of Object.entries(catalogue))
    assert.ok(/[.]$/.test(meaning) && example !== '' && remedy.length > 10, rule);
});
