import type { Evidence } from '../shared/evidence.ts';
import type { Files } from '../shared/files.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import { listTombstones, onRequest } from '../state/tombstones.ts';
import { withoutBullets } from './forgotten.ts';

/**
 * Takes the bullets out of memory files that rest on nothing but what `forget` took out, whoever wrote them: a branch
 * that still has them, because its cleaning was closed or an older tip was merged, must not bring the words back.
 */
export function withoutRequested(state: State): (files: Files) => Files {
  const isRequested = requestedIn(state);
  return (files) => (isRequested === null ? files : withoutBullets(files, ({ evidence }) => isRequested(evidence)));
}

/** null where nobody asked for anything. Rows of forgotten threads are gone, so the tombstones alone are asked. */
function requestedIn(state: State): ((evidence: readonly Evidence[]) => boolean) | null {
  const standing = listTombstones(state).filter(({ reason, liftedAt }) => reason === onRequest && liftedAt === null);
  const threads = new Set(standing.flatMap(({ kind, key }) => (kind === 'thread' ? [shortThreadId(key)] : [])));
  const items = new Set(
    standing.flatMap(({ kind, key }) => {
      const [thread = '', n = ''] = key.split(' ');
      return kind === 'evidence' ? [`${shortThreadId(thread)} ${n}`] : [];
    }),
  );
  if (threads.size === 0 && items.size === 0) return null;
  return (evidence) =>
    evidence.length > 0 &&
    evidence.every(
      ({ thread, items: named }) => threads.has(thread) || named.every((n) => items.has(`${thread} ${n}`)),
    );
}
