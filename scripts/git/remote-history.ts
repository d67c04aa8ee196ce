import { join } from 'node:path';
import type { Oid } from '../shared/files.ts';
import { textOrNull } from './layout.ts';
import type { Repository } from './types.ts';

/** Commits whose parents a shallow clone does not hold. */
export async function shallowCommits(commonDir: string): Promise<ReadonlySet<Oid>> {
  return new Set(((await textOrNull(join(commonDir, 'shallow'))) ?? '').split('\n').filter(Boolean));
}

/**
 * Whether the first-parent history of a commit ends at a shallow clone's boundary before it is `depth` commits long.
 * @param depth null: it may not end at a boundary at all.
 */
export async function lacksHistory(repository: Repository, oid: Oid, depth: number | null): Promise<boolean> {
  const boundary = await shallowCommits(repository.commonDir);
  if (boundary.size === 0 || depth === 1) return false;
  const history = await repository.history(oid, depth ?? wholeHistory);
  const last = history.at(-1);
  return last !== undefined && boundary.has(last.oid) && (depth === null || history.length < depth);
}

/** Git's own number for history without end. */
export const wholeHistory = 2_147_483_647;
