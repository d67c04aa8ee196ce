import { integer, integerOrNull, oneOf, text, textOrNull } from './columns.ts';
import type { Row, State } from './database.ts';
import { threadByShortId } from './threads.ts';
import type { EvidenceRow } from './types.ts';

/**
 * Notes the items that an output cites. Items which an earlier output of the thread cited stay known, since lines of
 * the handbook may stand on them; they go with the thread.
 */
export function putEvidence(state: State, rows: readonly EvidenceRow[]): void {
  if (rows.length === 0) return;
  state.runAll(
    'insert or replace into evidence (thread_id, n, who, at, line, src_id, author, hash, hedged)',
    rows.map(({ threadId, n, who, at, line, srcId, author, hash, hedged }) => [
      threadId,
      n,
      who,
      at,
      line,
      srcId,
      author,
      hash,
      hedged ? 1 : 0,
    ]),
  );
}

/** In the binary order of the item numbers. */
export function evidenceOf(state: State, threadId: string): EvidenceRow[] {
  const rows = state.all(
    `select thread_id, n, who, at, line, src_id, author, hash, hedged
     from evidence where thread_id = :thread order by n`,
    { thread: threadId },
  );
  return rows.map(evidenceFrom);
}

/** What `[k3f7x2ab@…]` may name; empty for a thread that is not known. */
export function evidenceByShortId(state: State, shortId: string): EvidenceRow[] {
  const thread = threadByShortId(state, shortId);
  return thread ? evidenceOf(state, thread.threadId) : [];
}

function evidenceFrom(row: Row): EvidenceRow {
  return {
    threadId: text(row, 'thread_id'),
    n: text(row, 'n'),
    who: oneOf(row, 'who', ['human', 'assistant', 'commentary', 'other_agent', 'harness', 'tool']),
    at: integerOrNull(row, 'at'),
    line: integer(row, 'line'),
    srcId: textOrNull(row, 'src_id'),
    author: textOrNull(row, 'author'),
    hash: text(row, 'hash'),
    hedged: integer(row, 'hedged') === 1,
  };
}
