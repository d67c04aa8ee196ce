import { link, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type EpochSeconds, isoTime } from '../shared/clock.ts';
import { parsedJson } from '../shared/json.ts';
import { makeFolder } from '../shared/make-folder.ts';
import { explain, GitError } from './errors.ts';
import { textOrNull } from './layout.ts';

/** Who takes a lock; as `World.self` and the clock have it. */
export interface LockOwner {
  readonly host: string;
  readonly pid: number;
  isAlive(pid: number): boolean;
  readonly at: EpochSeconds;
  /** What for, such as `nightly`: shown to whoever finds the lock taken. */
  readonly note: string;
}

/** Somebody else holds a lock. */
export class LockHeldError extends GitError {}

/**
 * Runs one thing at a time, across the processes of a machine: the lock is a file that is created exclusively and
 * complete. One whose process on this host is gone is taken over; one of another host is respected.
 * @throws LockHeldError that says who holds it.
 */
export async function withLock<T>(path: string, owner: LockOwner, work: () => Promise<T>): Promise<T> {
  if (held.has(path)) throw heldError(path, await readHolder(path));
  held.add(path);
  try {
    await acquire(path, owner);
    try {
      return await work();
    } finally {
      await rm(path, { force: true });
    }
  } finally {
    held.delete(path);
  }
}

/** Locks of this process. Its own id in any other lock is that of a process before a restart. */
const held = new Set<string>();

async function acquire(path: string, owner: LockOwner): Promise<void> {
  if (await create(path, owner)) return;
  const takeover = `${path}.takeover`;
  const found = await readHolder(path);
  if (!isStale(found, owner)) throw heldError(path, found);
  if (!(await create(takeover, owner))) {
    const other = await readHolder(takeover);
    if (!isStale(other, owner)) throw heldError(takeover, other);
    await rm(takeover, { force: true });
    throw heldError(path, found);
  }
  try {
    const still = await readHolder(path);
    if (still !== null && !isStale(still, owner)) throw heldError(path, still);
    await rm(path, { force: true });
    if (!(await create(path, owner))) throw heldError(path, await readHolder(path));
  } finally {
    await rm(takeover, { force: true });
  }
}

/** The file appears with its content or not at all. @returns false where it is there already. */
async function create(path: string, { host, pid, at, note }: LockOwner): Promise<boolean> {
  let drafts: string | null = null;
  try {
    await makeFolder(dirname(path));
    drafts = await mkdtemp(`${path}.`);
    const draft = join(drafts, 'lock');
    await writeFile(draft, `${JSON.stringify({ host, pid, started: isoTime(at), note })}\n`);
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw explain(`The lock ${path} cannot be taken`, error);
  } finally {
    if (drafts !== null) await rm(drafts, { recursive: true, force: true });
  }
}

export interface Holder {
  readonly host: string;
  readonly pid: number;
  readonly started: string;
  readonly note: string;
}

/** Who holds a lock. @returns null where the lock is gone or says nothing. */
export async function readHolder(path: string): Promise<Holder | null> {
  const text = await textOrNull(path);
  const value = text === null ? null : parsedJson(text);
  return isHolder(value) ? value : null;
}

function isHolder(value: unknown): value is Holder {
  if (typeof value !== 'object' || value === null) return false;
  const { host, pid, started, note } = value as Record<string, unknown>;
  return (
    typeof host === 'string' && Number.isSafeInteger(pid) && typeof started === 'string' && typeof note === 'string'
  );
}

function isStale(holder: Holder | null, owner: LockOwner): boolean {
  return holder?.host === owner.host && (holder.pid === owner.pid || !owner.isAlive(holder.pid));
}

function heldError(path: string, holder: Holder | null): LockHeldError {
  const who = holder
    ? `process ${holder.pid} on ${holder.host} (${holder.note}, since ${holder.started})`
    : 'a process that did not say which';
  return new LockHeldError(
    `${path} is held by ${who}.`,
    `Wait until it is done. If it is not running any more, remove the file: rm '${path}'`,
  );
}
