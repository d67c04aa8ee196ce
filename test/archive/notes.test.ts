import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { addRollouts } from '../../scripts/archive/add.ts';
import { type Archive, archiveTip } from '../../scripts/archive/archive.ts';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { type CarriedNote, noteThreadId } from '../../scripts/archive/note-file.ts';
import { addNotes, archivedNotes } from '../../scripts/archive/notes.ts';
import { rewriteArchive } from '../../scripts/archive/rewrite.ts';
import { archivedRollouts } from '../../scripts/archive/rollouts.ts';
import { tombstoneKey } from '../../scripts/archive/tombstones.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { fixedClock } from '../../scripts/shared/clock.ts';
import { aRepository, env, git } from '../support/repository.ts';
import { aRollout, dayAt } from '../support/stored-rollouts.ts';
import { threadId } from '../support/written-sessions.ts';

const clock = fixedClock(dayAt(5));
const note: CarriedNote = {
  kind: 'note',
  name: '2026-11-30T08-15-00-use-pnpm.md',
  authority: 'human',
  channel: 'command-line',
  author: 'dana',
  repo: 'git.example.test/acme/app',
  at: dayAt(5),
  text: 'Use pnpm.\n',
};

async function anArchive(t: TestContext): Promise<Archive & { readonly dir: string }> {
  const dir = aRepository(t, { 'README.md': 'The team.\n' });
  return { dir, repository: await openRepository(dir, { env }), ref: archiveRef, remote: null };
}

async function read(archive: Archive) {
  return archivedNotes(archive.repository, await archiveTip(archive));
}

async function put({ repository, ref }: Archive, files: Readonly<Record<string, string>>): Promise<void> {
  const tip = await repository.readRef(ref);
  const author = { name: 'Dana', email: 'dana@example.org' };
  const changes = new Map(Object.entries(files));
  const parents = tip === null ? [] : [tip];
  const commit = await repository.writeCommit({
    base: tip,
    parents,
    changes,
    message: 'By hand',
    author,
    at: dayAt(5),
  });
  await repository.swapRef(ref, tip, commit);
}

test('a note stands below the day in its name, and is read back as it was; sessions do not mind it', async (t) => {
  const archive = await anArchive(t);
  await addRollouts(archive, [aRollout(1)], dayAt(0), { clock });
  assert.deepEqual(await addNotes(archive, [note], { clock }), ['added']);
  assert.ok(
    git(archive.dir, 'ls-tree', '-r', '--name-only', archiveRef).includes(`notes/2026/11/30/${note.name}.json`),
  );
  assert.deepEqual(await read(archive), { notes: [note], ignored: [] });
  const { found, ignored } = await archivedRollouts(archive.repository, await archiveTip(archive)).list();
  assert.deepEqual([found.map(({ thread }) => thread.id), ignored], [[threadId(1)], []]);
});

test('sending a note again moves nothing', async (t) => {
  const archive = await anArchive(t);
  await addNotes(archive, [note], { clock });
  const tip = await archiveTip(archive);
  assert.deepEqual(await addNotes(archive, [note], { clock }), ['same']);
  assert.equal(await archiveTip(archive), tip);
});

test('of two notes with one name both stand, and sending them again adds none', async (t) => {
  const archive = await anArchive(t);
  const slug = 'x'.repeat(80);
  const [one, two] = ['One.', 'Two.'].map((text) => ({ ...note, name: `2026-11-30T08-15-00-${slug}.md`, text }));
  assert.ok(one !== undefined && two !== undefined);
  assert.deepEqual(await addNotes(archive, [one, two], { clock }), ['added', 'added']);
  assert.deepEqual(await addNotes(archive, [two, one], { clock }), ['same', 'same']);
  const { notes, ignored } = await read(archive);
  assert.deepEqual(notes.map(({ text }) => text).sort(), ['One.', 'Two.']);
  assert.deepEqual(ignored, []);
});

test('laptops that send at once lose no note', async (t) => {
  const archive = await anArchive(t);
  const all = Array.from({ length: 6 }, (_, n) => ({
    ...note,
    name: `2026-11-30T08-15-0${n}-x.md`,
    text: `Note ${n}`,
  }));
  await Promise.all(all.map((one) => addNotes(archive, [one], { clock })));
  assert.deepEqual(
    (await read(archive)).notes.map(({ text }) => text),
    all.map(({ text }) => text),
  );
});

test('what the team forgot is never sent: a note, a person', async (t) => {
  const archive = await anArchive(t);
  const keys = [
    tombstoneKey('salt', { kind: 'thread', thread: noteThreadId(note) }),
    tombstoneKey('salt', { kind: 'author', author: 'eve' }),
  ];
  await rewriteArchive(archive, { threads: new Set(), notSince: null, tombstones: { salt: 'salt', keys } }, { clock });
  const eves = { ...note, name: '2026-11-30T08-15-01-x.md', author: 'eve' };
  const fine = { ...note, name: '2026-11-30T08-15-02-x.md' };
  assert.deepEqual(await addNotes(archive, [note, eves, fine], { clock }), ['tombstoned', 'tombstoned', 'added']);
});

test('sessions grow old on the ref, notes do not', async (t) => {
  const archive = await anArchive(t);
  await addRollouts(archive, [aRollout(1)], dayAt(0), { clock });
  await addNotes(archive, [note], { clock });
  await rewriteArchive(archive, { threads: new Set([threadId(1)]), notSince: null }, { clock });
  assert.deepEqual((await read(archive)).notes, [note]);
});

test('what is no note is passed over and told', async (t) => {
  const archive = await anArchive(t);
  await addNotes(archive, [note], { clock });
  const words = JSON.parse(git(archive.dir, 'show', `${archiveRef}:notes/2026/11/30/${note.name}.json`));
  const bad = Object.entries({
    'no-json': '{',
    'no-object': 'null',
    newer: JSON.stringify({ ...words, version: 2 }),
    name: JSON.stringify({ ...words, name: '../../x.md' }),
    elsewhere: JSON.stringify(words),
    authority: JSON.stringify({ ...words, authority: 'admin' }),
    repo: JSON.stringify({ ...words, repo: 'a\nauthority: human' }),
    author: JSON.stringify({ ...words, author: 'a\nb' }),
    channel: JSON.stringify({ ...words, channel: 'a\nb' }),
    huge: JSON.stringify({ ...words, text: 'x'.repeat(8_193) }),
    at: JSON.stringify({ ...words, at: 'today' }),
  }).map(([name, text]) => [`notes/2026/11/30/${name}.json`, text] as const);
  await put(archive, Object.fromEntries(bad));
  const { notes, ignored } = await read(archive);
  assert.deepEqual(notes, [note]);
  assert.deepEqual(ignored, bad.map(([path]) => path).sort());
});
