import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { GitError } from '../git/errors.ts';
import { findRepository, type Layout } from '../git/layout.ts';
import type { ObjectFormat } from '../git/objects.ts';
import { gitProgram, output } from '../git/program.ts';
import { mayQuietSsh, programTransport } from '../git/remote-program.ts';
import type { Transport } from '../git/remote-transport.ts';
import { trackingRef } from '../git/remote-types.ts';
import { parseAddress } from '../git/remote-url.ts';
import { credentialsOf } from '../git/remote-words.ts';
import type { Clock } from '../shared/clock.ts';
import type { Oid } from '../shared/files.ts';
import { writeWhole } from './attempt.ts';
import { type CopyNote, noteText, readNote } from './copy.ts';
import { extract } from './extract.ts';
import type { MemorySource } from './source.ts';

export interface FetchPorts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly mark: string;
  /** Bytes of the bare repository that the cache keeps. */
  readonly largestRepository?: number;
}

/** Longest a fetch may take. */
export const fetchSeconds = 120;
/** Of a connection on which nothing moves. */
const stallSeconds = 30;
/** One commit of the memory repository with its state, and those of some nights before. */
const usuallyLargest = 128 * 1024 * 1024;
const lookEveryMs = 250;

/**
 * Fetches the newest commit of an address's default branch into a bare repository of the cache and copies its memory files
 * out of it. Nothing of it is checked out, no hook of it runs, and nothing outside of the cache is written.
 */
export async function fetchCopy(
  { url, cache }: Extract<MemorySource, { kind: 'remote' }>,
  { env, clock, mark, largestRepository = usuallyLargest }: FetchPorts,
): Promise<'fetched' | 'unchanged'> {
  await makeRoom(cache, largestRepository / 2);
  const head = await (await transportIn(await repositoryAt(cache, 'sha1', env), url, env)).head(undefined);
  if (head?.target == null)
    throw new GitError(
      'The memory repository has no default branch, or no commit on it.',
      'Push its first commit, or correct its default branch at the host.',
    );
  const known = readNote(cache);
  if (known?.oid === head.oid && existsSync(join(cache, 'copies', head.oid))) {
    await note(cache, { ...known, fetchedAt: clock.now() }, mark);
    return 'unchanged';
  }
  const layout = await repositoryAt(cache, head.oid.length === 64 ? 'sha256' : 'sha1', env);
  const ref = head.target;
  await bounded(layout.gitDir, largestRepository, async (signal) =>
    (await transportIn(layout, url, env)).fetch([{ ref, oid: head.oid, known: null }], 1, signal),
  );
  const git = gitProgram(layout, env);
  const oid = (await output(git, ['rev-parse', '--verify', `${trackingRef(ref)}^{commit}`])).toString().trim();
  const { files, enabled, refused } = await extract(git, oid, layout.format);
  await place(join(cache, 'copies'), oid, files, mark);
  await note(cache, { oid, enabled, refused, fetchedAt: clock.now() }, mark);
  await prune(join(cache, 'copies'), [oid, known?.oid ?? oid]);
  return 'fetched';
}

async function transportIn(layout: Layout, url: string, env: FetchPorts['env']): Promise<Transport> {
  const address = parseAddress(url, false);
  const endpoint = { address, credentials: credentialsOf(address, undefined) };
  const quietSsh = await mayQuietSsh(gitProgram(layout, env), env);
  return programTransport({ layout, env, fetchFrom: endpoint, pushTo: endpoint, stallSeconds, quietSsh });
}

/** Repositories that have grown large over many nights are made anew. */
async function makeRoom(cache: string, largest: number): Promise<void> {
  for (const format of ['sha1', 'sha256']) {
    const dir = join(cache, `${format}.git`);
    if ((await bytesBelow(dir)) > largest) await rm(dir, { recursive: true, force: true });
  }
}

/** The cache's bare repository, made where it is missing. */
async function repositoryAt(cache: string, format: ObjectFormat, env: FetchPorts['env']): Promise<Layout> {
  const dir = join(cache, `${format}.git`);
  if (!existsSync(join(dir, 'HEAD'))) {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const empty: Layout = { gitDir: dir, commonDir: dir, workTree: null, config: new Map(), format };
    await output(gitProgram(empty, env), ['init', '--quiet', '--bare', '--template=', `--object-format=${format}`]);
  }
  return findRepository(dir);
}

/** Stops what takes too long, or fills the repository with more than it may hold. */
async function bounded(dir: string, largest: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const tooLarge = async (): Promise<GitError | null> =>
    (await bytesBelow(dir)) > largest ? refused(`is larger than ${Math.ceil(largest / 1024)} KiB`) : null;
  const clock = setTimeout(
    () => stop.abort(refused(`took over ${fetchSeconds} seconds to fetch`)),
    fetchSeconds * 1_000,
  );
  const watch = setInterval(async () => {
    const error = await tooLarge();
    if (error !== null) stop.abort(error);
  }, lookEveryMs);
  try {
    await work(stop.signal);
    const error = await tooLarge();
    if (error !== null) throw error;
  } finally {
    clearTimeout(clock);
    clearInterval(watch);
  }
}

function refused(why: string): GitError {
  return new GitError(
    `The memory repository ${why}.`,
    'See whether this is your team’s memory repository; the copy that is here stays.',
  );
}

async function bytesBelow(dir: string): Promise<number> {
  if (!existsSync(dir)) return 0;
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(async ({ parentPath, name }) => sizeOf(join(parentPath, name)));
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/** Files come and go while git works. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** Writes a copy beside the others; it appears whole, by one rename. */
async function place(copies: string, oid: Oid, files: ReadonlyMap<string, Buffer>, mark: string): Promise<void> {
  const draft = join(copies, `.${mark}`);
  await rm(draft, { recursive: true, force: true });
  await mkdir(join(draft, 'memories'), { recursive: true, mode: 0o700 });
  for (const [path, bytes] of files) {
    const target = join(draft, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await writeFile(target, bytes, { mode: 0o600, flag: 'wx' });
  }
  await rm(join(copies, oid), { recursive: true, force: true });
  await rename(draft, join(copies, oid));
}

async function note(cache: string, copy: CopyNote, mark: string): Promise<void> {
  writeWhole(join(cache, 'current.json'), noteText(copy), mark);
}

/** The copy before this one stays for the sessions that were told of it. */
async function prune(copies: string, kept: readonly string[]): Promise<void> {
  for (const name of await readdir(copies))
    if (!kept.includes(name)) await rm(join(copies, name), { recursive: true, force: true });
}
