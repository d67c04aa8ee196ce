import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { archivePath, archiveRef } from '../../scripts/archive/layout.ts';
import { openRepository } from '../../scripts/git/open.ts';
import type { CommitInfo, Repository } from '../../scripts/git/types.ts';
import { writeRollout } from '../../scripts/rollout/canonical.ts';
import { checkoutsFrom } from '../../scripts/rollout/checkouts.ts';
import { redactedRollouts } from '../../scripts/rollout/redacted.ts';
import { openRollouts, type Source } from '../../scripts/rollout/source.ts';
import type { Files } from '../../scripts/shared/files.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { linesOf, type MemoryLine } from '../../scripts/why/lines.ts';
import { type KnownState, openKnownState } from '../../scripts/why/open-state.ts';
import { ownSessions } from '../../scripts/why/own-sessions.ts';
import { type Answer, why } from '../../scripts/why/run.ts';
import { answerText } from '../../scripts/why/text.ts';
import type { Archives } from '../../scripts/why/words.ts';
import { handbookPath, rawMemoriesPath } from '../../scripts/workspace/layout.ts';
import { type Night, playNight, recordedSources } from '../support/nights.ts';
import { env, git, scratchRepository } from '../support/repository.ts';

const dir = scratchRepository();
const place = { include: [], checkouts: checkoutsFrom({}), home: '/home/dana' };
const redactor = createRedactor({});
let night: Night;
let known: KnownState;
let repository: Repository;
let tip: CommitInfo;
let files: Files;

before(async () => {
  night = await playNight(dir, recordedSources());
  // Without the program a read starts no process, and hundreds follow.
  repository = await openRepository(dir, { env, backend: 'isomorphic' });
  known = await openKnownState(repository);
  tip = await repository.readCommit(git(dir, 'rev-parse', 'HEAD'));
  files = await repository.readFiles(tip.oid, ['memories']);
});

test('every bullet of the handbook has a run, a commit, sessions, and words at each item that it cites', async () => {
  const bullets = linesIn(handbookPath);
  assert.ok(bullets.length > 30);
  const archives = archivesOf(recordedSources());
  for (const bullet of bullets) {
    const answer = await answerFor(bullet, archives);
    const [wording] = answer.wordings;
    const at = `${bullet.path}:${bullet.line}`;
    assert.deepEqual(wording?.origin.maker, { kind: 'run', runId: night.report.runId, by: 'record' }, at);
    assert.equal(wording?.origin.commit.oid, tip.oid, at);
    assert.equal(wording?.origin.run?.models, 'builtin', at);
    assert.ok(answer.sessions.length > 0, at);
    for (const { thread, output, items, fate, words } of answer.sessions) {
      assert.ok(thread !== null && output !== null && fate === null, at);
      assert.equal(output.runId, night.report.runId, at);
      assert.ok(items.length > 0 && items.every(({ row }) => row !== null), at);
      assert.deepEqual(
        words.map(({ n, from, unchanged }) => [n, from, unchanged]),
        items.map(({ n }) => [n, 'this_machine', true]),
        at,
      );
    }
  }
});

test('every line of every other memory file has a commit and an author, and of a session’s files that session', async () => {
  const archives = archivesOf();
  const others = [...files.keys()].filter((path) => path !== handbookPath);
  assert.ok(others.length > 15);
  for (const path of others) {
    // One of each kind a file: the walk through the history is the same for all.
    const lines = linesIn(path, () => true).filter(({ words }) => words !== '');
    const first = new Map(lines.map((line) => [`${line.kind} ${line.evidence.length > 0}`, line]));
    for (const line of first.values()) {
      const answer = await answerFor(line, archives);
      const at = `${line.path}:${line.line}`;
      assert.equal(answer.wordings[0]?.origin.maker.kind, 'run', at);
      assert.ok(answer.sessions.length + answer.madeOf.length > 0 || line.threadId === null, at);
    }
  }
});

test('the words come from the rollouts ref where it holds the session, else from the summary, and each says so', async () => {
  const [bullet] = linesIn(handbookPath).filter(({ raw }) => raw.includes('We run Node 20 everywhere'));
  assert.ok(bullet);
  const [quoted] = (await answerFor(bullet, archivesOf())).sessions;
  assert.deepEqual([quoted?.words[0]?.from, quoted?.words[0]?.unchanged], ['summary', null]);
  assert.match(quoted?.words[0]?.text ?? '', /We run Node 20 everywhere/);

  const rollouts = redactedRollouts(openRollouts(recordedSources(), place), redactor);
  const threadId = quoted?.threadId ?? '';
  const rollout = await rollouts.read(threadId);
  const commit = await repository.writeCommit({
    base: null,
    parents: [],
    changes: new Map([[archivePath(rollout.thread), writeRollout(rollout)]]),
    message: 'rollouts\n',
    author: { name: 'a', email: 'a@example.org' },
    at: 1,
  });
  await repository.swapRef(archiveRef, null, commit);
  const answer = await answerFor(bullet, archivesOf());
  const words = answer.sessions[0]?.words[0];
  assert.deepEqual([words?.from, words?.unchanged], ['rollouts_ref', true]);
  assert.match(answerText(answer, null, false), /@8 {2}human, .*; words from the rollouts ref/);

  const items = rollout.items.map((item) => (item.n === '8' ? { ...item, text: 'We run Node 18.' } : item));
  const forged = await repository.writeCommit({
    base: null,
    parents: [],
    changes: new Map([[archivePath(rollout.thread), writeRollout({ ...rollout, items })]]),
    message: 'rollouts\n',
    author: { name: 'a', email: 'a@example.org' },
    at: 2,
  });
  await repository.swapRef(archiveRef, commit, forged);
  const changed = await answerFor(bullet, archivesOf());
  assert.equal(changed.sessions[0]?.words[0]?.unchanged, false);
  assert.match(answerText(changed, null, false), /not the words that phase 1 read/);
  await repository.swapRef(archiveRef, forged, null);
});

test('a line of the summary names the bullets that it was made of', async () => {
  const [line] = linesIn('memories/memory_summary.md', ({ raw }) => raw.startsWith('- git.example.test/acme/etl-job'));
  assert.ok(line);
  const answer = await answerFor(line, archivesOf());
  assert.deepEqual(
    answer.madeOf.map(({ raw }) => raw),
    ['# Task Group: git.example.test/acme/etl-job'],
  );
  assert.match(answerText(answer, null, false), /Made by code from:\n {2}memories\/MEMORY\.md:\d+/);
});

test('a line of raw memories is its thread’s, with that thread’s items', async () => {
  const [line] = linesIn(rawMemoriesPath, ({ raw }) => raw.startsWith('- changed here: `deploy.sh`'));
  assert.ok(line);
  const answer = await answerFor(line, archivesOf());
  assert.equal(answer.sessions.length, 1);
  assert.equal(answer.sessions[0]?.threadId, line.threadId);
  assert.deepEqual(
    answer.sessions[0]?.items.map(({ row }) => row?.who),
    ['tool'],
  );
});

function linesIn(path: string, wants = ({ kind }: MemoryLine) => kind === 'bullet'): MemoryLine[] {
  return linesOf(path, files.get(path) ?? '').filter(wants);
}

function archivesOf(sources: readonly Source[] = []): Archives {
  return { repository, ref: archiveRef, own: ownSessions(sources, place, redactor), redactor };
}

async function answerFor({ path, line }: MemoryLine, archives: Archives): Promise<Answer> {
  const question = { kind: 'place', path, line } as const;
  const asked = { question, head: tip.oid, at: tip, files, history: false };
  const outcome = await why(repository, asked, known, archives);
  assert.equal(outcome.outcome, 'answer', `${path}:${line}`);
  if (outcome.outcome !== 'answer') throw new Error(path);
  return outcome.answer;
}
