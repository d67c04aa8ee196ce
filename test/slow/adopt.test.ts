import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { doctorCommand, doctorSpec } from '../../scripts/doctor/command.ts';
import { keepBoth } from '../../scripts/doctor/keep.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { listCitations, recordCitations } from '../../scripts/state/citations.ts';
import { openStateOfRef } from '../../scripts/state/current.ts';
import type { State } from '../../scripts/state/database.ts';
import { listLines, recordLines } from '../../scripts/state/lines.ts';
import { loadStateRef, saveStateRef, stateRef } from '../../scripts/state/ref.ts';
import { emptyState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { liftTombstone, listTombstones, setTombstone, tombstonesOf } from '../../scripts/state/tombstones.ts';
import { aFix } from '../support/codex-session.ts';
import { type Ended, ranHere } from '../support/nights.ts';
import { env, git } from '../support/repository.ts';
import { aCitation, dayAt } from '../support/state-rows.ts';
import { aTeamOnServers, botToken, type TestTeam } from '../support/team.ts';

const at = '2026-12-01T03:17:00Z';
const other = 'refs/memory/adopted/2026-12-01T031700Z';

function adopt(clone: string, side: 'remote' | 'local', args: readonly string[] = []): Promise<Ended> {
  const all = ['--repo', clone, '--adopt', side, ...args];
  return ranHere(doctorSpec, (world) => doctorCommand(world, ''), all, { CTM_CLOCK: at, TEAM_TOKEN: botToken });
}

/** A team with one night, and a clone whose own state has no parent in common with it but knows something more. */
async function twoStates(
  t: TestContext,
): Promise<{ team: TestTeam; clone: string; own: string; shared: string | null }> {
  const team = await aTeamOnServers(t);
  team.session(aFix(1));
  const clone = team.clone();
  const night = await team.night('2026-11-30T03:17:00Z', { clone });
  assert.equal(night.code, 0, night.stderr);
  const repository = await openRepository(clone, { env });
  const loaded = await loadStateRef(repository, stateRef);
  assert.ok(loaded);
  git(clone, 'update-ref', '-d', stateRef);
  const state = await openStateOfRef(loaded.tree.text);
  know(state);
  const own = await saveStateRef(repository, {
    ref: stateRef,
    expected: null,
    tree: { ...loaded.tree, text: snapshotOf(state) },
    at: 1_796_000_000,
    author: { name: 'M', email: 'm@example.org' },
    message: 'A state of its own\n',
  });
  return { team, clone, own, shared: team.tip(stateRef) };
}

function know(state: State): void {
  setTombstone(state, forgotten('x', dayAt(1)));
  recordCitations(state, [aCitation('e1', 'a', { at: dayAt(1) })], { now: dayAt(2), horizon: null });
  recordLines(state, [{ scope: 'git.example.test/acme/app-1', hash: 'f'.repeat(32), who: 'dana', since: dayAt(1) }]);
}

const forgotten = (key: string, setAt: number) =>
  ({ kind: 'thread', key, reason: 'forget', runId: null, pullRequest: null, setAt }) as const;

/** What of `know` a side's state knows. */
async function known(team: TestTeam): Promise<readonly number[]> {
  const state = await openStateOfRef(team.file(stateRef, 'state.sqlite.json'));
  return [listTombstones(state).length, listCitations(state).length, listLines(state).length];
}

test('a night names the way out, and the remote’s state is adopted with what this clone’s knew', async (t) => {
  const { team, clone, own, shared } = await twoStates(t);
  const refused = await team.night('2026-12-01T03:00:00Z', { clone });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /npm run doctor -- --adopt remote/);
  const adopted = await adopt(clone, 'remote');
  assert.equal(adopted.code, 0, adopted.stderr);
  assert.match(adopted.stdout, /^kept {3}of the other: 1 forgotten, 1 citations, 1 pinned lines$/m);
  assert.equal(team.tip(stateRef), git(clone, 'rev-parse', stateRef));
  assert.equal(git(team.dir, 'rev-parse', `${stateRef}^`), shared);
  assert.match(
    git(team.dir, 'log', '-1', '--format=%B', stateRef),
    new RegExp(`adopted remote\\n\\nThe other side was ${own}`),
  );
  assert.equal(git(clone, 'rev-parse', other), own, 'the other side stays reachable');
  assert.equal(team.tip('refs/memory/lease'), null, 'the lease is released');
  assert.deepEqual(await known(team), [1, 1, 1]);
  const next = await team.night('2026-12-01T04:00:00Z', { clone });
  assert.equal(next.code, 0, next.stderr);
  assert.match((await adopt(clone, 'remote')).stdout, /^Nothing to adopt: this clone’s state is the remote’s\.$/m);
});

test('a batch that either side asked for is read by whoever goes on', async (t) => {
  const { team, clone } = await twoStates(t);
  const repository = await openRepository(clone, { env });
  const loaded = await loadStateRef(repository, stateRef);
  assert.ok(loaded);
  const batches = [
    {
      id: 'batch_1',
      status: 'in_progress' as const,
      expiresAt: null,
      hash: 'ab'.repeat(16),
      runId: 'run',
      submittedAt: 1_796_000_000,
      wire: 'chat' as const,
      model: 'small',
      reserved: { tokens: 1, microUsd: 0 },
      files: ['file-1'],
      requests: [{ threadId: 'x', watermark: 1, key: 'ef'.repeat(32) }],
    },
  ];
  await saveStateRef(repository, {
    ref: stateRef,
    expected: loaded.oid,
    tree: { ...loaded.tree, night: { ...loaded.tree.night, batches } },
    at: 1_796_000_001,
    author: { name: 'M', email: 'm@example.org' },
    message: 'A batch of its own\n',
  });
  const adopted = await adopt(clone, 'remote');
  assert.equal(adopted.code, 0, adopted.stderr);
  assert.match(team.file(stateRef, 'night.json'), /batch_1/);
});

test('this clone’s state is adopted on the remote, and the remote’s stays reachable here', async (t) => {
  const { team, clone, own, shared } = await twoStates(t);
  const adopted = await adopt(clone, 'local', ['--json']);
  assert.equal(adopted.code, 0, adopted.stderr);
  const { outcome, state, other: ref } = JSON.parse(adopted.stdout) as Record<string, unknown>;
  assert.deepEqual([outcome, state, ref], ['adopted', own, other]);
  assert.deepEqual([team.tip(stateRef), git(clone, 'rev-parse', other)], [own, shared]);
  assert.deepEqual(await known(team), [1, 1, 1]);
});

test('nothing is adopted while a night is at work, nor a side that has no state', async (t) => {
  const { team, clone, own } = await twoStates(t);
  const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
  const record = '{"worker":"process 7 on far","token":"t","run":null,"leaseUntil":4102444800}';
  const held = git(clone, 'commit-tree', '-m', record, emptyTree);
  git(clone, 'push', '--quiet', team.dir, `${held}:refs/memory/lease`);
  const waiting = await adopt(clone, 'remote');
  assert.equal(waiting.code, 1);
  assert.match(waiting.stderr, /A night is at work \(process 7 on far\)/);
  git(team.dir, 'update-ref', '-d', 'refs/memory/lease');
  git(team.dir, 'update-ref', '-d', stateRef);
  const none = await adopt(clone, 'remote');
  assert.equal(none.code, 2);
  assert.match(none.stderr, /The remote has no state[\s\S]*--adopt local/);
  assert.equal(git(clone, 'rev-parse', stateRef), own);
  assert.equal((await adopt(clone, 'local')).code, 0);
  assert.equal(team.tip(stateRef), own);
});

test('what either side forgot stays forgotten, unless the other showed it again later', async () => {
  const into = await emptyState();
  const from = await emptyState();
  setTombstone(into, forgotten('shown-later', dayAt(1)));
  liftTombstone(into, 'thread', 'shown-later', dayAt(9));
  setTombstone(into, forgotten('forgotten-later', dayAt(1)));
  liftTombstone(into, 'thread', 'forgotten-later', dayAt(2));
  setTombstone(into, forgotten('here', dayAt(1)));
  for (const key of ['shown-later', 'forgotten-later', 'there']) setTombstone(from, forgotten(key, dayAt(5)));
  setTombstone(from, forgotten('lifted-there', dayAt(5)));
  liftTombstone(from, 'thread', 'lifted-there', dayAt(6));
  setTombstone(from, forgotten('here', dayAt(5)));
  liftTombstone(from, 'thread', 'here', dayAt(6));
  keepBoth(into, from, dayAt(10));
  const { hidesThread } = tombstonesOf(into);
  assert.deepEqual(['shown-later', 'forgotten-later', 'here', 'there', 'lifted-there'].map(hidesThread), [
    false,
    true,
    true,
    true,
    false,
  ]);
  const once = snapshotOf(into);
  keepBoth(into, from, dayAt(11));
  assert.equal(snapshotOf(into), once, 'doing it again changes nothing');
});
