import { memoryClose, memoryOpen } from '../rollout/marker.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import { type Attempt, isDue, noteAttempt, readAttempt } from './attempt.ts';
import { findCopy, type MemoryCopy } from './copy.ts';
import { noticeFor } from './notice.ts';
import { scopesFor } from './own-blocks.ts';
import { type Recalled, recall } from './recall.ts';
import { type Machine, type MemorySource, sourceOf } from './source.ts';
import { type Where, whereIs } from './where.ts';

export interface Asked {
  /** A folder or an address. */
  readonly memory: string;
  /** The session's folder. */
  readonly folder: string;
}

export interface Ports {
  readonly machine: Machine;
  readonly now: EpochSeconds;
  /** Tells this process from others of this machine. */
  readonly mark: string;
  /** Starts a process that brings the copy up to date and outlives us; resolves once it is started. */
  startRefresh(): Promise<void>;
}

export interface SessionMemory {
  readonly source: MemorySource;
  readonly where: Where;
  /** null: there is none (yet), or the repository switched it off. */
  readonly copy: MemoryCopy | null;
  readonly recalled: Recalled | null;
  /** For the session's context; '' where there is nothing to say. */
  readonly text: string;
  /** What is amiss with this copy; '' where nothing is. */
  readonly notice: string;
  /** The last failure to fetch, in the other side's words, for people only. */
  readonly failure: string | null;
}

/** What a session gets, from what this machine has now. A copy of an address is refreshed beside it, never waited for. */
export async function recallFor({ memory, folder }: Asked, ports: Ports): Promise<SessionMemory> {
  const source = sourceOf(memory, ports.machine);
  const where = await whereIs(folder);
  const found = findCopy(source, scopesFor(where.repositories));
  const attempt = source.kind === 'remote' ? await attemptAt(source.cache, ports) : null;
  const notice = noticeFor(found, attempt, ports.now);
  const known = { source, where, notice, failure: attempt?.failure ?? null };
  if (found.kind !== 'copy') {
    const text = found.kind === 'coming' ? `${memoryOpen}\n${notice}\n${memoryClose}` : '';
    return { ...known, copy: null, recalled: null, text };
  }
  const { copy } = found;
  const recalled = recall(copy.texts, { repositories: where.repositories, folder: copy.folder, notice });
  return { ...known, copy, recalled, text: recalled.text };
}

async function attemptAt(cache: string, ports: Ports): Promise<Attempt | null> {
  const attempt = readAttempt(cache);
  if (!isDue(attempt, ports.now)) return attempt;
  const isNoted = canNote(cache, { at: ports.now, failure: attempt?.failure ?? null }, ports.mark);
  if (isNoted) await ports.startRefresh();
  return attempt;
}

/** Where nothing can be written nothing can be fetched either, and the copy that is here serves as it is. */
function canNote(cache: string, attempt: Attempt, mark: string): boolean {
  try {
    noteAttempt(cache, attempt, mark);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}
