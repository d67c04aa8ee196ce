import type { EpochSeconds } from '../shared/clock.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import { integer, oneOf, text, textOrNull } from './columns.ts';
import type { Row, State } from './database.ts';
import { enqueueConsolidation } from './scopes.ts';
import { isSelected } from './selection.ts';
import type { ThreadRow } from './types.ts';

/** What stands for the agent in the row of a note or resource, which is a thread of its own. */
export const noteAgent = 'note';

/**
 * Notes what a session is today. One that is known keeps `firstSeenAt` and `memoryMode`; an older copy of it (a
 * smaller `updatedAt`) changes nothing.
 */
export function upsertThread(state: State, thread: ThreadRow): void {
  state.run(
    `insert into threads (thread_id, short_id, agent, origin, author, repo, aliases, cwd, branch, commit_oid, title,
       started_at, updated_at, first_seen_at, memory_mode)
     values (:thread_id, :short_id, :agent, :origin, :author, :repo, :aliases, :cwd, :branch, :commit_oid, :title,
       :started_at, :updated_at, :first_seen_at, :memory_mode)
     on conflict (thread_id) do update set
       agent = excluded.agent, origin = excluded.origin, author = excluded.author, repo = excluded.repo,
       aliases = excluded.aliases, cwd = excluded.cwd, branch = excluded.branch, commit_oid = excluded.commit_oid,
       title = excluded.title, started_at = excluded.started_at, updated_at = excluded.updated_at
     where excluded.updated_at >= threads.updated_at`,
    {
      thread_id: thread.threadId,
      short_id: shortThreadId(thread.threadId),
      agent: thread.agent,
      origin: thread.origin,
      author: thread.author,
      repo: thread.repo,
      aliases: JSON.stringify(thread.aliases),
      cwd: thread.cwd,
      branch: thread.branch,
      commit_oid: thread.commit,
      title: thread.title,
      started_at: thread.startedAt,
      updated_at: thread.updatedAt,
      first_seen_at: thread.firstSeenAt,
      memory_mode: thread.memoryMode,
    },
  );
}

export function getThread(state: State, threadId: string): ThreadRow | null {
  const row = state.first(`select ${threadColumns} from threads t where t.thread_id = :thread`, { thread: threadId });
  return row && threadOf(row);
}

/** The first thread that evidence means by a short id. A new thread with the same one is a collision: skip it. */
export function threadByShortId(state: State, shortId: string): ThreadRow | null {
  const row = state.first(
    `select ${threadColumns} from threads t where t.short_id = :short order by t.thread_id limit 1`,
    { short: shortId },
  );
  return row && threadOf(row);
}

/** The thread whose summary has this stem. */
export function threadByStem(state: State, stem: string): string | null {
  const row = state.first('select thread_id from stage1_outputs where stem = :stem order by thread_id limit 1', {
    stem,
  });
  return row && text(row, 'thread_id');
}

/** By thread id. */
export function listThreads(state: State): ThreadRow[] {
  return state.all(`select ${threadColumns} from threads t order by t.thread_id`).map(threadOf);
}

/**
 * Takes a thread out of memory, or back in. One whose output its scope had selected wakes that scope, so that it is
 * forgotten there, also when it was out already.
 * @returns false for a thread that is not known.
 */
export function setMemoryMode(
  state: State,
  threadId: string,
  mode: ThreadRow['memoryMode'],
  now: EpochSeconds,
): boolean {
  return state.transaction(() => {
    const thread = getThread(state, threadId);
    if (!thread) return false;
    state.run('update threads set memory_mode = :mode where thread_id = :thread', { mode, thread: threadId });
    if (mode !== 'enabled' && isSelected(state, threadId)) enqueueConsolidation(state, thread.repo, now);
    return true;
  });
}

/**
 * Deletes a thread with its outputs, evidence and job, which only `forget` does. Its scope wakes if it had selected
 * it; the selection itself stays until that scope's next success.
 */
export function deleteThread(state: State, threadId: string, now: EpochSeconds): void {
  state.transaction(() => {
    const thread = getThread(state, threadId);
    if (thread && isSelected(state, threadId)) enqueueConsolidation(state, thread.repo, now);
    removeThreadRows(state, threadId);
  });
}

/** The rows that are about one thread alone. */
export function removeThreadRows(state: State, threadId: string): void {
  const bound = { thread: threadId };
  state.run('delete from stage1_outputs where thread_id = :thread', bound);
  state.run('delete from evidence where thread_id = :thread', bound);
  state.run("delete from jobs where kind = 'memory_stage1' and key = :thread", bound);
  state.run('delete from shown where thread_id = :thread', bound);
  state.run('delete from threads where thread_id = :thread', bound);
}

/** Of table `threads t`; every name is a thread's alone, so that joins can add their own. */
export const threadColumns = `t.thread_id, t.agent, t.origin, t.author, t.repo, t.aliases, t.cwd, t.branch,
  t.commit_oid, t.title, t.started_at, t.updated_at, t.first_seen_at, t.memory_mode`;

export function threadOf(row: Row): ThreadRow {
  return {
    threadId: text(row, 'thread_id'),
    agent: text(row, 'agent'),
    origin: text(row, 'origin'),
    author: textOrNull(row, 'author'),
    repo: text(row, 'repo'),
    aliases: aliasesOf(text(row, 'aliases')),
    cwd: text(row, 'cwd'),
    branch: textOrNull(row, 'branch'),
    commit: textOrNull(row, 'commit_oid'),
    title: text(row, 'title'),
    startedAt: integer(row, 'started_at'),
    updatedAt: integer(row, 'updated_at'),
    firstSeenAt: integer(row, 'first_seen_at'),
    memoryMode: oneOf(row, 'memory_mode', ['enabled', 'disabled', 'polluted']),
  };
}

function aliasesOf(json: string): string[] {
  const parsed: unknown = JSON.parse(json);
  return Array.isArray(parsed) ? parsed.map(String) : [];
}
