import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { addRollouts } from '../../scripts/archive/add.ts';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { type CarriedNote, memoryPathOf } from '../../scripts/archive/note-file.ts';
import { addNotes, archivedNotes } from '../../scripts/archive/notes.ts';
import { localPlace } from '../../scripts/forget/place.ts';
import { forget as forgetIn } from '../../scripts/forget/run.ts';
import { openRepository } from '../../scripts/git/open.ts';
import type { Repository } from '../../scripts/git/types.ts';
import { checkoutsFrom } from '../../scripts/rollout/checkouts.ts';
import { openRollouts } from '../../scripts/rollout/source.ts';
import { fixedClock, parseIsoTime } from '../../scripts/shared/clock.ts';
import { openStateOfRef } from '../../scripts/state/current.ts';
import { listOutputs } from '../../scripts/state/outputs.ts';
import { loadStateRef, saveStateRef } from '../../scripts/state/ref.ts';
import { snapshotOf } from '../../scripts/state/snapshot.ts';
import { listThreads } from '../../scripts/state/threads.ts';
import { listTombstones, onRequest, tombstonesOf } from '../../scripts/state/tombstones.ts';
import { codexText, correcting, uuid } from '../support/codex-session.ts';
import { forgets, obey, reachable, shop, toldBy } from '../support/forgetting.ts';
import { type Ended, playedHere } from '../support/nights.ts';
import { commitAll, git, temporaryFolder, writeFiles } from '../support/repository.ts';
import { aRollout, dayAt } from '../support/stored-rollouts.ts';

const handbook = 'memories/MEMORY.md';
const stateRef = 'refs/memory/state';
const cents = 'No, prices are integer cents in lib/price1.ts, never floats.';
const jest = 'No, use npm test and not jest for lib/price2.ts.';
/** Without the git program everything is quicker, and the other backend is tried. */
const quick = { PATH: '/nowhere' };

let base: string | null = null;

/** A memory of one's own after a night over two sessions, copied from one that is made once. */
async function aMemory(t: TestContext): Promise<string> {
  if (base === null) {
    const made = mkdtempSync(join(tmpdir(), 'memory-test-'));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    const repo = join(made, 'repo');
    writeFiles(repo, { 'README.md': 'Mine.\n', '.github/memory.yml': 'version: 1\n' });
    git(repo, 'init', '--quiet', '--initial-branch=main');
    commitAll(repo, 'Start');
    send(made, 1, cents, '2026-11-20T10:00:00Z');
    send(made, 2, jest, '2026-11-21T10:00:00Z');
    base = made;
    const night = await plays(made, '2026-11-22T03:17:00Z');
    assert.equal(night.code, 0, night.stderr);
  }
  const folder = temporaryFolder(t);
  cpSync(base, folder, { recursive: true });
  return folder;
}

function send(folder: string, n: number, said: string, at: string): void {
  writeFiles(folder, { [`sessions/rollout-${uuid(n)}.jsonl`]: codexText(correcting(n, said, at)) });
}

function plays(folder: string, at: string): Promise<Ended> {
  const args = [
    '--repo',
    join(folder, 'repo'),
    '--now',
    '--since',
    'all',
    '--source',
    `codex:${join(folder, 'sessions')}`,
  ];
  return playedHere(args, { CTM_CLOCK: at, ...quick });
}

function forget(folder: string, ...args: readonly string[]): Promise<Ended> {
  return forgets(join(folder, 'repo'), ['--source', `codex:${join(folder, 'sessions')}`, ...args], undefined, quick);
}

function memory(folder: string): string {
  return readFileSync(join(folder, 'repo', handbook), 'utf8');
}

async function stateOf(folder: string) {
  return openStateOfRef(`${git(join(folder, 'repo'), 'show', `${stateRef}:state.sqlite.json`)}\n`);
}

function refs(folder: string): string {
  return git(join(folder, 'repo'), 'for-each-ref');
}

test('what would go is shown first, and nothing is touched', async (t) => {
  const folder = await aMemory(t);
  const before = refs(folder);
  const shown = await forget(folder, '--thread', uuid(1), '--json');
  assert.equal(shown.code, 0, shown.stderr);
  const { outcome, reach } = toldBy(shown);
  assert.equal(outcome, 'preview');
  assert.deepEqual(reach[0], { surface: 'sessions', what: '1 session whole, 0 items of others' });
  assert.ok(reach.some(({ surface }) => surface === handbook));
  assert.doesNotMatch(shown.stdout, /integer cents/);
  assert.equal(refs(folder), before);
  assert.match((await forget(folder, '--match', 'nobody said this')).stdout, /Nothing of it stands/);
});

test('a session is forgotten whole: rows, files, lines, and the state’s own past', async (t) => {
  const folder = await aMemory(t);
  const ended = await forget(folder, '--thread', uuid(1), '--yes', '--json');
  assert.equal(ended.code, 3, ended.stderr);
  const repo = join(folder, 'repo');
  assert.doesNotMatch(memory(folder), /integer cents/);
  assert.match(memory(folder), /not jest/);
  assert.doesNotMatch(git(repo, 'ls-tree', '-r', '--name-only', 'HEAD'), /lib_price1/);
  assert.doesNotMatch(git(repo, 'grep', '--all-match', '-l', '-e', 'price', 'HEAD'), /price1/);
  assert.equal(git(repo, 'log', '--format=%P', stateRef), '', 'without a parent');
  assert.equal(git(repo, 'log', '-1', '--format=%s'), 'memory: forget on request');
  const state = await stateOf(folder);
  assert.deepEqual(
    listThreads(state).map(({ threadId }) => threadId),
    [uuid(2)],
  );
  assert.deepEqual(
    listOutputs(state).map(({ threadId }) => threadId),
    [uuid(2)],
  );
  assert.ok(tombstonesOf(state).hidesThread(uuid(1)));
  const left = toldBy(ended).leftovers;
  assert.ok(left.length > 0);
  assert.deepEqual(
    [...new Set(left.map(({ ref, path }) => (ref === 'refs/heads/main' ? ref : `${ref} ${path}`)))],
    ['refs/heads/main'],
  );
  send(folder, 1, `${cents} Really.`, '2026-11-23T10:00:00Z');
  const next = await plays(folder, '2026-11-25T03:17:00Z');
  assert.equal(next.code, 0, next.stderr);
  assert.doesNotMatch(memory(folder), /integer cents/, 'also when it grows');
});

test('a line is forgotten by its place, and a person who puts it back does not bring its session along', async (t) => {
  const folder = await aMemory(t);
  const repo = join(folder, 'repo');
  const number =
    memory(folder)
      .split('\n')
      .findIndex((line) => line.includes('integer cents')) + 1;
  const line = memory(folder).split('\n')[number - 1] ?? '';
  const ended = await forget(folder, '--line', `MEMORY.md:${number}`, '--yes');
  assert.equal(ended.code, 3, ended.stderr);
  assert.ok(!memory(folder).includes(line));
  assert.match(memory(folder), /not jest/);
  const hidden = listTombstones(await stateOf(folder));
  assert.ok(hidden.length > 0 && hidden.every(({ kind, reason }) => kind === 'evidence' && reason === onRequest));
  writeFiles(repo, { [handbook]: memory(folder).replace(/^- .*not jest.*$/m, (other) => `${other}\n${line}`) });
  commitAll(repo, 'Put it back');
  const next = await plays(folder, '2026-11-25T03:17:00Z');
  assert.equal(next.code, 0, next.stderr);
  assert.ok(memory(folder).includes(line), 'the line is that person’s now');
  assert.ok(
    listTombstones(await stateOf(folder)).every(({ liftedAt }) => liftedAt === null),
    'its items stay hidden',
  );
  assert.doesNotMatch(readFileSync(join(repo, 'memories/raw_memories.md'), 'utf8'), /integer cents/);
});

test('a line that a person removed and put back counts again with its evidence', async (t) => {
  const folder = await aMemory(t);
  const repo = join(folder, 'repo');
  const before = memory(folder);
  const kept = before.split('\n').filter((line) => !line.includes('integer cents'));
  writeFiles(repo, { [handbook]: kept.join('\n') });
  commitAll(repo, 'Take it out');
  assert.equal((await plays(folder, '2026-11-23T03:17:00Z')).code, 0);
  const gone = listTombstones(await stateOf(folder));
  assert.ok(gone.length > 0 && gone.every(({ liftedAt }) => liftedAt === null));
  assert.doesNotMatch(readFileSync(join(repo, 'memories/raw_memories.md'), 'utf8'), /never floats/);
  writeFiles(repo, { [handbook]: before });
  commitAll(repo, 'Put it back');
  assert.equal((await plays(folder, '2026-11-24T03:17:00Z')).code, 0);
  assert.ok(listTombstones(await stateOf(folder)).every(({ liftedAt }) => liftedAt !== null));
  assert.match(memory(folder), /integer cents/);
  assert.match(readFileSync(join(repo, 'memories/raw_memories.md'), 'utf8'), /never floats/);
});

test('what is asked for wrongly is refused before anything is read', async (t) => {
  const folder = await aMemory(t);
  const before = refs(folder);
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /Nothing is named/],
    [['--thread', 'a', '--match', 'abcd'], /Only one thing/],
    [['--match', ' a  '], /at least 4/],
    [['--match', 'prices', '--export', 'x.json'], /--export goes with --author/],
    [['--line', 'MEMORY.md:99999'], /says nothing that can be forgotten/],
    [['--line', 'OTHER.md:1'], /There is no memories\/OTHER.md/],
    [['--line', 'lib/price'], /\d+ lines say that/],
  ];
  for (const [args, why] of wrong) {
    const { code, stderr } = await forget(folder, ...args, '--yes');
    assert.deepEqual([code, why.test(stderr)], [2, true], `${args.join(' ')}: ${stderr}`);
  }
  writeFiles(join(folder, 'repo'), { [handbook]: `${memory(folder)}\nMy own words.\n` });
  const edited = await forget(folder, '--thread', uuid(1), '--yes');
  assert.equal(edited.code, 1);
  assert.match(edited.stderr, /Not committed/);
  assert.equal(refs(folder), before);
});

test('the printed commands clean a memory of one’s own, and forgetting again says that nothing is left', async (t) => {
  const folder = await aMemory(t);
  const repo = join(folder, 'repo');
  const first = toldBy(await forget(folder, '--match', 'integer CENTS', '--yes', '--json'));
  obey(repo, first.steps);
  assert.doesNotMatch(reachable(repo), /integer cents/);
  const again = await forget(folder, '--match', 'integer cents', '--yes', '--json');
  assert.deepEqual([again.code, toldBy(again).leftovers], [0, []], again.stderr);
  assert.match(memory(folder), /not jest/);
  assert.equal(git(repo, 'status', '--porcelain'), '');
  assert.equal((await plays(folder, '2026-11-26T03:17:00Z')).code, 0, 'the next night finds its way');
});

test('what is held about a person is written first, then all of it goes and their name with it', async (t) => {
  const folder = await aMemory(t);
  const repo = join(folder, 'repo');
  await archived(repo, 'dana');
  const file = join(folder, 'dana.json');
  const first = await forget(folder, '--author', 'dana', '--export', file, '--yes', '--json');
  assert.equal(first.code, 3, first.stderr);
  const record = JSON.parse(readFileSync(file, 'utf8')) as Record<string, { readonly length: number }>;
  assert.deepEqual(
    ['threads', 'outputs', 'sessions', 'lines'].map((part) => (record[part]?.length ?? 0) > 0),
    [true, true, true, true],
  );
  assert.match(readFileSync(file, 'utf8'), /integer cents/);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const state = `${git(repo, 'show', `${stateRef}:state.sqlite.json`)}\n`;
  assert.doesNotMatch(state, /dana|integer cents/, 'not even the tombstone names them');
  assert.doesNotMatch(memory(folder), /integer cents/);
  assert.match(memory(folder), /not jest/);
  assert.equal(git(repo, 'ls-tree', '-r', '--name-only', archiveRef), 'tombstones.json');
  assert.ok(tombstonesOf(await stateOf(folder)).hidesAuthor('dana'));
  const again = await forget(folder, '--author', 'dana', '--export', file, '--yes');
  assert.equal(again.code, 1);
  assert.match(again.stderr, /is there already; nothing was forgotten/);
  obey(repo, toldBy(first).steps);
  const last = await forget(folder, '--author', 'dana', '--yes', '--json');
  assert.deepEqual([last.code, toldBy(last).leftovers], [0, []], last.stderr);
});

/** The first session as a laptop sends it, with who it is of; the state knows them too. */
async function archived(repo: string, author: string): Promise<void> {
  const repository = await openRepository(repo, { env: quick });
  const archive = { repository, ref: archiveRef, remote: null };
  const rollout = aRollout(1, ['Add a helper', 'Done.', cents, 'Done.'], { id: uuid(1), author, repo: shop });
  await addRollouts(archive, [rollout], 0, { clock: fixedClock(dayAt(5)) });
  const loaded = await loadStateRef(repository, stateRef);
  assert.ok(loaded);
  const state = await openStateOfRef(loaded.tree.text);
  state.run('update threads set author = :author where thread_id = :thread', { author, thread: uuid(1) });
  const { author: by, at, message } = await repository.readCommit(loaded.oid);
  const tree = { ...loaded.tree, text: snapshotOf(state) };
  await saveStateRef(repository, { ref: stateRef, expected: loaded.oid, tree, author: by, at, message });
}

test('whoever dies at any write is finished by the next run', async (t) => {
  const folder = await aMemory(t);
  await archived(join(folder, 'repo'), 'dana');
  let at = 1;
  for (let isDead = true; isDead; at += 1) {
    const copy = temporaryFolder(t);
    cpSync(folder, copy, { recursive: true });
    isDead = !(await diesAt(at, join(copy, 'repo')));
    const ended = await forget(copy, '--match', 'integer cents', '--yes', '--json');
    assert.ok(ended.code === 3 || ended.code === 0, ended.stderr);
    const left = toldBy(ended).leftovers.filter(({ ref }) => ref !== 'refs/heads/main');
    assert.deepEqual(left, [], `after a death at write ${at}`);
    assert.doesNotMatch(memory(copy), /integer cents/);
    assert.match(memory(copy), /not jest/);
    assert.doesNotMatch(git(join(copy, 'repo'), 'show', 'HEAD:state.sqlite.json'), /integer cents/);
  }
  assert.ok(at > 5, `${at} writes`);
});

/** Forgets until its n-th write. @returns whether it came to its end before. */
async function diesAt(n: number, dir: string): Promise<boolean> {
  const repository = await openRepository(dir, { env: quick });
  let writes = 0;
  const count = () => {
    writes += 1;
    if (writes >= n) throw new Error('the process is gone');
  };
  const dying: Repository = {
    ...repository,
    writeCommit: (spec) => repository.writeCommit(spec).finally(count),
    swapRef: (...given) => repository.swapRef(...given).finally(count),
    refresh: (...given) => repository.refresh(...given).finally(count),
  };
  const author = { name: 'M', email: 'm@example.org' };
  const clock = fixedClock(parseIsoTime('2026-11-24T09:00:00Z') ?? 0);
  const none = openRollouts([], { include: [], checkouts: checkoutsFrom({}), home: '/nowhere' });
  const archive = { repository: dying, ref: archiveRef, remote: null };
  const place = localPlace({ repository: dying, clock, author, rollouts: none, clean: (all) => all }, null, archive);
  const ports = { clock, author, env: quick, redact: (text: string) => text, newSalt: '0'.repeat(32), folders: [] };
  try {
    await forgetIn({ kind: 'match', words: 'integer cents' }, place, ports);
    return true;
  } catch (error) {
    if (error instanceof Error && error.message === 'the process is gone') return false;
    throw error;
  }
}

test('words of notes are forgotten on the ref and in the memory, whether a night had taken the note or not', async (t) => {
  const folder = await aMemory(t);
  const repo = join(folder, 'repo');
  const repository = await openRepository(repo, { env: quick });
  const archive = { repository, ref: archiveRef, remote: null };
  const clock = fixedClock(parseIsoTime('2026-11-22T10:00:00Z') ?? 0);
  const note: CarriedNote = {
    kind: 'note',
    name: '2026-11-22T10-00-00-customer.md',
    authority: 'human',
    channel: 'command-line',
    author: 'dana',
    repo: shop,
    at: clock.now(),
    text: 'Ask Halvorsen Shipping before a release.',
  };
  await addNotes(archive, [note], { clock });
  writeFiles(repo, { '.github/memory.yml': `version: 1\ninclude: [${shop}]\n` });
  commitAll(repo, 'Include it');
  const taken = await plays(folder, '2026-11-23T03:17:00Z');
  assert.equal(taken.code, 0, taken.stderr);
  assert.match(memory(folder), /Halvorsen Shipping/);
  const late = { ...note, name: '2026-11-23T10-00-00-late.md', text: 'Halvorsen Shipping pays late.' };
  await addNotes(archive, [late], { clock });
  const forgotten = await forget(folder, '--match', 'halvorsen shipping', '--yes', '--json');
  assert.equal(forgotten.code, 3, forgotten.stderr);
  assert.deepEqual(
    toldBy(forgotten).leftovers.filter(({ ref }) => ref === archiveRef),
    [],
  );
  const tip = await repository.readRef(archiveRef);
  assert.deepEqual((await archivedNotes(repository, tip)).notes, []);
  assert.deepEqual(await addNotes(archive, [note, late], { clock }), ['tombstoned', 'tombstoned']);
  const next = await plays(folder, '2026-11-25T03:17:00Z');
  assert.equal(next.code, 0, next.stderr);
  assert.doesNotMatch(memory(folder), /Halvorsen/);
  for (const one of [note, late])
    assert.equal(git(repo, 'ls-tree', '--name-only', 'HEAD', memoryPathOf(one)), '', 'its file goes whole');
});
