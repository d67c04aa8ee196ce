import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addRollouts } from '../../scripts/archive/add.ts';
import { type Archive, archiveTip } from '../../scripts/archive/archive.ts';
import { forgetInArchive } from '../../scripts/archive/forget.ts';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { type CarriedNote, noteThreadId } from '../../scripts/archive/note-file.ts';
import { addNotes, archivedNotes } from '../../scripts/archive/notes.ts';
import { archivedRollouts } from '../../scripts/archive/rollouts.ts';
import { type Forgotten, tombstoneKey } from '../../scripts/archive/tombstones.ts';
import { dropForgotten, obeyArchive } from '../../scripts/nightly/forgotten-sessions.ts';
import type { Rollout } from '../../scripts/rollout/types.ts';
import { fixedClock } from '../../scripts/shared/clock.ts';
import type { State } from '../../scripts/state/database.ts';
import { setMeta } from '../../scripts/state/meta.ts';
import { outputsOf } from '../../scripts/state/outputs.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';
import { authorKey, evidenceKey, onRequest, setTombstone, tombstonesOf } from '../../scripts/state/tombstones.ts';
import { aClone, type MemoryServer, noObjects } from '../support/memory-git.ts';
import { withOutput } from '../support/state-rows.ts';
import { aRollout, dayAt } from '../support/stored-rollouts.ts';
import { threadId } from '../support/written-sessions.ts';

const salt = '0123456789abcdef'.repeat(2);
const clock = fixedClock(dayAt(5));
const signal = new AbortController().signal;
const words = ['Add a helper.', 'Which one?', 'The one for Halvorsen Shipping.', 'Done.'];

/** A team's server; each laptop is a clone of its own. */
function aServer(): { readonly server: MemoryServer; laptop(name: string): Archive } {
  const server: MemoryServer = { objects: noObjects(), refs: new Map() };
  return {
    server,
    laptop: (name) => {
      const { repository, remote } = aClone(server, name);
      return { repository, ref: archiveRef, remote: remote() };
    },
  };
}

function add(archive: Archive, ...rollouts: readonly Rollout[]) {
  return addRollouts(archive, rollouts, dayAt(0), { clock });
}

function forgets(archive: Archive, ...what: readonly Forgotten[]) {
  const keysFor = (own: string) => ({ salt: own || salt, keys: what.map((one) => tombstoneKey(own || salt, one)) });
  return forgetInArchive(archive, keysFor, { clock });
}

async function textsIn(archive: Archive): Promise<string[]> {
  const rollouts = archivedRollouts(archive.repository, await archiveTip(archive));
  const texts: string[] = [];
  for (const { thread } of (await rollouts.list()).found)
    texts.push(...(await rollouts.read(thread.id)).items.map(({ text }) => text));
  return texts;
}

test('a forgotten session goes without a trace in the history, and no other laptop brings it back', async () => {
  const { server, laptop } = aServer();
  await add(laptop('one'), aRollout(1, words));
  await add(laptop('one'), aRollout(2));
  const gone = await forgets(laptop('admin'), { kind: 'thread', thread: threadId(1) });
  assert.deepEqual(gone, { threads: [threadId(1)], items: [], notes: [] });
  const tip = server.refs.get(archiveRef) ?? '';
  assert.deepEqual(server.objects.commits.get(tip)?.parents, []);
  assert.doesNotMatch(
    JSON.stringify([...(server.objects.commits.get(tip)?.files ?? [])]),
    new RegExp(`Halvorsen|${threadId(1)}`),
  );
  const grown = aRollout(1, [...words, 'And more.']);
  assert.equal((await add(laptop('two'), grown)).get(threadId(1)), 'tombstoned');
  assert.deepEqual(await textsIn(laptop('one')), ['Fix the build.']);
  await forgets(laptop('admin'), { kind: 'thread', thread: threadId(1) });
  assert.equal(server.refs.get(archiveRef), tip, 'again changes nothing');
});

test('a forgotten item goes alone, with its copies in forks, today’s and those that are sent later', async () => {
  const { laptop } = aServer();
  const original = aRollout(1, words);
  const said = original.items[2];
  assert.ok(said);
  // A fork numbers what it copied anew.
  const fork = (n: number): Rollout => ({
    ...aRollout(n),
    items: original.items.map((item, at) => ({ ...item, n: String(at + 40) })),
  });
  await add(laptop('one'), original, fork(2));
  const copy = { kind: 'copy', at: said.at, text: said.text } as const;
  const gone = await forgets(laptop('admin'), { kind: 'item', thread: threadId(1), n: said.n }, copy);
  assert.deepEqual(gone.items, [threadId(1), threadId(2)]);
  await add(laptop('two'), fork(3));
  const texts = await textsIn(laptop('one'));
  assert.equal(texts.length, 9);
  assert.doesNotMatch(texts.join(), /Halvorsen/);
});

test('an author’s sessions go, whoever sends them again', async () => {
  const { laptop } = aServer();
  await add(laptop('one'), aRollout(1, words), aRollout(2, ['Other.'], { author: 'kim' }));
  assert.deepEqual((await forgets(laptop('admin'), { kind: 'author', author: 'dana' })).threads, [threadId(1)]);
  assert.equal((await add(laptop('two'), aRollout(3))).get(threadId(3)), 'tombstoned');
  assert.deepEqual(await textsIn(laptop('one')), ['Other.']);
});

test('a night takes from the ref what a forget that died left there', async () => {
  const { laptop } = aServer();
  await add(laptop('one'), aRollout(1, words), aRollout(2, ['Other.'], { author: 'kim' }));
  const state = await emptyState();
  setMeta(state, 'salt', salt);
  const ask = (kind: 'author' | 'thread', key: string) =>
    setTombstone(state, { kind, key, reason: onRequest, runId: null, pullRequest: null, setAt: dayAt(4) });
  ask('author', authorKey(salt, 'dana'));
  const warnings: string[] = [];
  await dropForgotten(state, laptop('night'), { clock, warn: (text) => warnings.push(text), signal });
  assert.deepEqual([await textsIn(laptop('one')), warnings], [['Other.'], []]);
});

test('an older state that is restored obeys what the ref knows to be forgotten', async () => {
  const { laptop } = aServer();
  const archive = laptop('night');
  await add(archive, aRollout(9, ['Something else.']));
  await forgets(
    archive,
    { kind: 'thread', thread: 'a' },
    { kind: 'item', thread: 'b', n: '3' },
    { kind: 'author', author: 'kim' },
  );
  const state = await restored();
  assert.deepEqual(shown(state), ['a', 'b', 'c']);
  assert.equal(await obeyArchive(state, archive.repository, await archiveTip(archive), dayAt(5)), 3);
  assert.deepEqual(shown(state), ['b']);
  const { hidesEvidence } = tombstonesOf(state);
  assert.ok(hidesEvidence('b', '3', 'github.com/acme/shop') && !hidesEvidence('b', '4', 'github.com/acme/shop'));
  assert.equal(await obeyArchive(state, archive.repository, await archiveTip(archive), dayAt(6)), 0);
  const { hidesThread } = tombstonesOf(state);
  assert.ok(hidesThread('a') && hidesThread('c') && !hidesThread('b'));
  assert.ok(!tombstonesOf(state).hidesEvidence('d', evidenceKey('b', '3', '*'), '*'));
});

async function restored(): Promise<State> {
  const state = await emptyState();
  for (const [id, author] of [
    ['a', 'ada'],
    ['b', 'ada'],
    ['c', 'kim'],
  ] as const)
    withOutput(state, id, { thread: { author } });
  return state;
}

function shown(state: State): string[] {
  return outputsOf(state, 'github.com/acme/shop', { from: 0, to: dayAt(500) }).map(({ threadId: id }) => id);
}

const note: CarriedNote = {
  kind: 'note',
  name: '2026-11-30T08-15-00-use-pnpm.md',
  authority: 'human',
  channel: 'command-line',
  author: 'dana',
  repo: 'git.example.test/acme/app',
  at: dayAt(5),
  text: 'Ask Halvorsen Shipping first.\n',
};

async function notesIn(archive: Archive): Promise<readonly CarriedNote[]> {
  return (await archivedNotes(archive.repository, await archiveTip(archive))).notes;
}

test('a forgotten note goes from the ref, as does a forgotten person’s, and no laptop brings them back', async () => {
  const { server, laptop } = aServer();
  const eves = { ...note, name: '2026-11-30T08-15-01-eves.md', author: 'eve' };
  const fine = { ...note, name: '2026-11-30T08-15-02-fine.md', text: 'Use pnpm.' };
  await addNotes(laptop('one'), [note, eves, fine], { clock });
  const gone = await forgets(
    laptop('admin'),
    { kind: 'item', thread: noteThreadId(note), n: '1' },
    { kind: 'author', author: 'eve' },
  );
  assert.deepEqual(gone.notes, [note.name, eves.name]);
  assert.deepEqual(await notesIn(laptop('two')), [fine]);
  assert.deepEqual(server.objects.commits.get(server.refs.get(archiveRef) ?? '')?.parents, []);
  assert.deepEqual(await addNotes(laptop('one'), [note, eves, fine], { clock }), ['tombstoned', 'tombstoned', 'same']);
});

test('a resource loses the forgotten line alone, the others keep their numbers, also where it is sent again', async () => {
  const { laptop } = aServer();
  const resource: CarriedNote = {
    ...note,
    kind: 'resource',
    text: 'Use pnpm.\nAsk Halvorsen Shipping.\nShip on Mondays.',
  };
  await addNotes(laptop('one'), [resource], { clock });
  const gone = await forgets(laptop('admin'), { kind: 'item', thread: noteThreadId(resource), n: '2' });
  assert.deepEqual(gone.notes, [resource.name]);
  const [left] = await notesIn(laptop('two'));
  assert.deepEqual(left?.text.trimEnd().split('\n'), ['Use pnpm.', '', 'Ship on Mondays.']);
  assert.deepEqual(await addNotes(laptop('one'), [resource], { clock }), ['same']);
  assert.equal((await notesIn(laptop('two'))).length, 1);
});
