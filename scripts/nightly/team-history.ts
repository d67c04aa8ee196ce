import type { Repository } from '../git/types.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Files, Oid } from '../shared/files.ts';

/** First-parent commits that are looked at. */
const historyLimit = 1_000;

/** Whether a commit stands in the first-parent history of another, or is it. */
export async function reaches(repository: Repository, from: Oid, commit: Oid): Promise<boolean> {
  return from === commit || (await repository.history(from, historyLimit)).some(({ oid }) => oid === commit);
}

/** The newest commit of a branch that the default branch has too, itself or what it merged; null without one. */
export async function forkPoint(repository: Repository, base: Oid, branch: Oid): Promise<Oid | null> {
  const known = new Set((await repository.history(base, historyLimit)).map(({ oid }) => oid));
  for (const { oid, parents } of await repository.history(branch, historyLimit)) {
    const shared = [oid, ...parents].find((candidate) => known.has(candidate));
    if (shared !== undefined) return shared;
  }
  return null;
}

/** The commit itself where its objects are here; else null. */
export async function ifHere(repository: Repository, commit: Oid | null): Promise<Oid | null> {
  if (commit === null) return null;
  try {
    await repository.readCommit(commit);
    return commit;
  } catch (error) {
    if (error instanceof MemoryError) return null;
    throw error;
  }
}

/** Everything below `memories/`; nothing where there is no commit. */
export async function memoriesAt(repository: Repository, commit: Oid | null): Promise<Files> {
  return commit === null ? new Map() : repository.readFiles(commit, ['memories']);
}
