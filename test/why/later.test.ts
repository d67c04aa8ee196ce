import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkoutsFrom } from '../../scripts/rollout/checkouts.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { answerJson } from '../../scripts/why/json.ts';
import { openKnownState } from '../../scripts/why/open-state.ts';
import { ownSessions } from '../../scripts/why/own-sessions.ts';
import { commitAt } from '../../scripts/why/past.ts';
import { parseQuestion } from '../../scripts/why/question.ts';
import { type Outcome, why } from '../../scripts/why/run.ts';
import { answerText } from '../../scripts/why/text.ts';
import { entryThreadId, formatEntry } from '../../scripts/workspace/extension.ts';
import { aLineHistory, dayOf, type LineHistory, shop } from '../support/line-histories.ts';

const npm = 'Tests are run with `npm test` [k3f7x2ab@12]';
const cache = 'The cache lives in `.turbo` [k3f7x2ab@20]';
const none = 'Since 2.0 builds keep nothing at all between runs [k3f7x2ab@20] [q2w3e4r5@9]';

test('--at shows a line as it was believed then, and what became of it', async (t) => {
  const history = await aLineHistory(t);
  const first = await history.run('a', [npm, cache]);
  const second = await history.run('b', ['Tests are run with `npm test` or `npm t` [k3f7x2ab@12]', none]);
  const stands = await asked(history, { at: first, text: 'npm test' });
  assert.match(stands, /^memories\/MEMORY\.md:12 at [0-9a-f]{12} /);
  assert.match(stands, /Today it says:\n {2}- Tests are run with `npm test` or `npm t`/);
  const gone = await asked(history, { at: first, text: 'cache' });
  assert.match(gone, /It stands no longer\.\ngone .* by run bbbbbbbbbbbbbbbb, commit [0-9a-f]{12}/);
  assert.ok(gone.includes(second.slice(0, 12)));
  assert.match(gone, /superseded by {2}- Since 2\.0 builds keep nothing/);
  assert.doesNotMatch(await asked(history, { text: 'builds keep nothing' }), /Today|no longer/);
});

test('--history finds a line that is gone, says until when and by what, and follows its earlier wordings', async (t) => {
  const history = await aLineHistory(t);
  await history.run('a', [npm, cache]);
  await history.person('dana', [npm, 'The cache lives in `.turbo` of the root [k3f7x2ab@20]']);
  await history.run('b', [npm, none]);
  const text = await asked(history, { text: 'turbo', history: true });
  assert.match(text, /The cache lives in `\.turbo` of the root/);
  assert.match(text, /reworded so {2}.* by dana <dana@example\.org>/);
  assert.match(text, /gone {2}.* by run b{16}/);
  assert.match(text, /superseded by {2}- Since 2\.0/);
  assert.match(text, /Before\n {2}- The cache lives in `\.turbo` \[k3f7x2ab@20\]\n {2}since {2}.* by run a{16}/);
  assert.match(text, /until {2}.* by dana/);
  assert.deepEqual(await outcomeOf(history, { text: 'turbo' }), { outcome: 'none', near: [] });
});

test('a line that the newest one corrected is found from the new one, with since, until and by what', async (t) => {
  const history = await aLineHistory(t);
  const first = await history.run('a', [npm, cache]);
  const second = await history.run('b', [npm, none]);
  const outcome = await outcomeOf(history, { text: 'builds keep nothing', history: true });
  assert.equal(outcome.outcome, 'answer');
  if (outcome.outcome !== 'answer') return;
  const json = JSON.parse(JSON.stringify(answerJson(outcome.answer, null)));
  assert.deepEqual([json.origin.how, json.origin.since.commit, json.origin.until], ['corrected', second, null]);
  assert.deepEqual(
    json.earlier.map(
      (each: { text: string; how: string; since: { run_id: string; commit: string }; until: object }) => [
        each.text,
        each.how,
        each.since.run_id,
        each.since.commit,
        each.until,
      ],
    ),
    [[`- ${cache}`, 'added', 'a'.repeat(16), first, { ...json.origin.since, via: [], how: 'corrected' }]],
  );
});

test('who took a line away in a merged branch is named, with the pull request', async (t) => {
  const history = await aLineHistory(t);
  const first = await history.run('a', [npm, cache]);
  await history.on('tidy');
  const tidied = await history.person('erin', [npm]);
  await history.on('main');
  await history.bring('merge', tidied, "Merge branch 'tidy' into 'main'\n\nSee merge request acme/memory!31");
  const text = await asked(history, { at: first, text: 'cache' });
  assert.match(text, /gone {2}.* by erin <erin@example\.org>/);
  assert.match(text, /merged {2}.* by merger/);
  assert.match(text, /pull request {2}#31/);
  assert.match(text, /nothing took its place/);
});

test('a line that went and came back stands today', async (t) => {
  const history = await aLineHistory(t);
  const first = await history.run('a', [npm, cache]);
  await history.person('dana', [npm]);
  await history.person('erin', [npm, cache]);
  assert.match(await asked(history, { at: first, text: 'cache' }), /It still stands today\./);
});

test('a date is the end of its day, a time its second, a commit may be cut; nothing else is taken', async (t) => {
  const history = await aLineHistory(t);
  const first = await history.person('dana', [npm]);
  const second = await history.person('dana', [npm, cache]);
  const { repository } = history;
  const head = await history.head();
  const at = async (text: string) => (await commitAt(repository, head, text)).oid;
  assert.equal((await repository.readCommit(first)).at, dayOf(1));
  assert.equal(await at('2026-01-02'), first);
  assert.equal(await at('2026-01-03'), second);
  assert.equal(await at('2026-01-02T23:59:59Z'), first);
  assert.equal(await at('2026-01-03T00:00:00Z'), second);
  assert.equal(await at(first.slice(0, 8)), first);
  assert.equal(await at('HEAD'), second);
  await assert.rejects(at('2025-12-31'), /the history here begins at 2026-01-02/);
  await assert.rejects(at('last week'), /--at does not take “last week”/);
  await assert.rejects(at('0000000'), /No commit 0000000/);
});

test('a person’s line without evidence names its author and commit, and that no session stands behind it', async (t) => {
  const history = await aLineHistory(t);
  await history.run('a', [npm]);
  const commit = await history.person('dana', [npm, 'Ask the release captain before a deploy']);
  const text = await asked(history, { text: 'release captain' });
  assert.match(text, /added {2}.* by dana <dana@example\.org>/);
  assert.ok(text.includes(commit.slice(0, 12)));
  assert.match(text, /No session stands behind it: the author of the commit does\./);
});

test('a line that rests on a note names its file, whose word it is, and what it says', async (t) => {
  const history = await aLineHistory(t);
  const path = 'memories/extensions/ad_hoc/notes/2026-01-02T00-00-00-deploys.md';
  const header = { scope: shop, author: 'dana', authority: 'human', channel: 'cli', at: dayOf(1) } as const;
  await history.file('dana', path, formatEntry(path, header, 'Deploys wait for the release captain.'));
  await history.run('a', [`Deploys wait for the captain [${shortThreadId(entryThreadId(path))}@1]`]);
  const text = await asked(history, { text: 'wait for the captain' });
  assert.match(
    text,
    /a note of dana, human, by cli, 2026-01-02T00:00:00Z\n {2}file {2}memories\/extensions\/ad_hoc\/notes/,
  );
  assert.match(text, /@1 {2}what it says; words from its file\n {4}│ Deploys wait for the release captain\./);
  assert.doesNotMatch(text, /The state/);
});

test('colour is ours alone: what a line holds of it is shown as text', async (t) => {
  const history = await aLineHistory(t);
  await history.person(
    'da\u001b[31mna',
    ['red \u001b[31malert\u001b[0m \u202eback [k3f7x2ab@1]'],
    'A \u001b[2J subject',
  );
  const outcome = await outcomeOf(history, { text: 'red' });
  assert.equal(outcome.outcome, 'answer');
  if (outcome.outcome !== 'answer') return;
  const coloured = answerText(outcome.answer, null, true);
  assert.match(coloured, /\u001b\[1mmemories\/MEMORY\.md:12\u001b\[0m/);
  assert.equal(coloured.replace(/\u001b\[\d+m/g, ''), answerText(outcome.answer, null, false));
  assert.match(coloured, /red \\u\{1b\}\[31malert\\u\{1b\}\[0m \\u\{202e\}back/);
  assert.doesNotMatch(answerText(outcome.answer, null, false), /[\u0000-\u0009\u000b-\u001f\u202e]/);
});

interface Asking {
  readonly text: string;
  readonly at?: string;
  readonly history?: boolean;
}

async function outcomeOf(from: LineHistory, { text, at, history = false }: Asking): Promise<Outcome> {
  const { repository, dir } = from;
  const head = await from.head();
  const commit = await repository.readCommit(at ?? head);
  const files = await repository.readFiles(commit.oid, ['memories']);
  const question = parseQuestion(text, { cwd: dir, workTree: dir, files });
  const redactor = createRedactor({});
  const own = ownSessions([], { include: [], checkouts: checkoutsFrom({}), home: '/home/dana' }, redactor);
  const archives = { repository, ref: 'refs/memory/rollouts', own, redactor };
  return why(repository, { question, head, at: commit, files, history }, await openKnownState(repository), archives);
}

async function asked(history: LineHistory, asking: Asking): Promise<string> {
  const outcome = await outcomeOf(history, asking);
  assert.equal(outcome.outcome, 'answer', asking.text);
  return outcome.outcome === 'answer' ? answerText(outcome.answer, asking.at ?? null, false) : '';
}

test('what a line says that it supersedes is named as its forerunner, though they share no evidence', async (t) => {
  const history = await aLineHistory(t);
  await history.run('a', [npm, cache]);
  await history.run('b', [npm, 'Packages of 2.0 stand alone (supersedes k3f7x2ab@20) [m2p7c4dw@7]']);
  const old = await asked(history, { text: 'turbo', history: true });
  assert.match(old, /superseded by {2}- Packages of 2\.0/);
  assert.doesNotMatch(old, /probably/);
  assert.match(
    await asked(history, { text: 'stand alone' }),
    /instead of {2}- The cache lives|Before\n {2}- The cache/,
  );
});
