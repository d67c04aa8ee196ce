import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type NoteOrigin, spoolNote, spoolOf } from '../../scripts/archive/note-spool.ts';
import { MemoryError } from '../../scripts/shared/errors.ts';
import { temporaryFolder } from '../support/repository.ts';

const origin: NoteOrigin = { authority: 'agent', channel: 'mcp', memory: 'h/team/memory', repo: 'h/acme/shop', at: 0 };
const note = { name: '2026-11-30T08-15-00-x.md', text: 'verbatim \n' };

test('of two that write the same name at once, one wins and both notes are whole', async (t) => {
  const state = join(temporaryFolder(t), 'state');
  const kept = await Promise.all(['one', 'two', 'three'].map((text) => spoolNote(state, { ...note, text }, origin)));
  assert.equal(kept.filter(Boolean).length, 1);
  const text = readFileSync(join(spoolOf(state, origin.memory), 'extensions/ad_hoc/notes', note.name), 'utf8');
  assert.equal(text, ['one', 'two', 'three'][kept.indexOf(true)]);
});

test('notes of two memories do not mix', async (t) => {
  const state = temporaryFolder(t);
  assert.equal(await spoolNote(state, note, origin), true);
  assert.equal(await spoolNote(state, note, { ...origin, memory: 'h/other/memory' }), true);
  assert.equal(readdirSync(join(state, 'notes')).length, 2);
});

test('only the owner can read what waits', async (t) => {
  const state = join(temporaryFolder(t), 'state');
  await spoolNote(state, note, origin);
  const spool = spoolOf(state, origin.memory);
  for (const path of [state, join(state, 'notes'), spool, join(spool, 'about'), join(spool, 'extensions/ad_hoc/notes')])
    assert.equal(statSync(path).mode & 0o077, 0, path);
  assert.equal(statSync(join(spool, 'extensions/ad_hoc/notes', note.name)).mode & 0o777, 0o600);
});

for (const part of ['notes', 'extensions', 'extensions/ad_hoc', 'extensions/ad_hoc/notes', 'about']) {
  test(`nothing is written through a link at ${part}`, async (t) => {
    const [state, outside] = [temporaryFolder(t), temporaryFolder(t)];
    const place = part === 'notes' ? join(state, 'notes') : join(spoolOf(state, origin.memory), part);
    mkdirSync(join(place, '..'), { recursive: true });
    symlinkSync(outside, place);
    await assert.rejects(spoolNote(state, note, origin), MemoryError);
    assert.deepEqual(readdirSync(outside), []);
  });
}

test('a link in place of the note is not followed', async (t) => {
  const state = temporaryFolder(t);
  const notes = join(spoolOf(state, origin.memory), 'extensions/ad_hoc/notes');
  mkdirSync(notes, { recursive: true });
  symlinkSync(join(state, 'target'), join(notes, note.name));
  assert.equal(await spoolNote(state, note, origin), false);
  assert.equal(existsSync(join(state, 'target')), false);
});

test('a spool that is a file says what to do', async (t) => {
  const state = temporaryFolder(t);
  writeFileSync(join(state, 'notes'), '');
  await assert.rejects(spoolNote(state, note, origin), (error: unknown) => {
    assert.ok(error instanceof MemoryError);
    assert.match(`${error.message} ${error.hint}`, /is a link or a file.*Take it away/);
    return true;
  });
});
