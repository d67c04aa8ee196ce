import type { CommitInfo, Repository } from '../git/types.ts';
import type { Oid } from '../shared/files.ts';
import type { MemoryLine } from './lines.ts';
import { locate, type Succession, stepForward, successionsBetween } from './step.ts';
import { type ReadVersion, readVersions, type Version, versionsOf } from './versions.ts';

/** What became of a line since. */
export type Later =
  /** `line` as it stands now; reworded where its words are others now. */
  | { readonly kind: 'stands'; readonly line: MemoryLine; readonly reworded: boolean }
  | { readonly kind: 'gone'; readonly line: MemoryLine; readonly removal: Removal };

export interface Removal {
  /** The first commit without the line; of a merge the one on the side that took it away. */
  readonly commit: CommitInfo;
  /** The merge that brought it; null where none did. */
  readonly merge: CommitInfo | null;
  /** What took its place; null where nothing did. */
  readonly by: { readonly by: MemoryLine; readonly link: Succession['link'] | 'reworded' } | null;
}

/**
 * Follows a line forward to a later commit, through rewordings.
 * @param from where it stands; `head` may be it, or a commit that has it in its first-parent history.
 */
export async function laterOf(repository: Repository, line: MemoryLine, from: Oid, head: Oid): Promise<Later> {
  const versions = await versionsSince(repository, line.path, from, head);
  let older: ReadVersion | null = null;
  let current = line;
  let gone: Extract<Later, { kind: 'gone' }> | null = null;
  for await (const newer of readVersions(repository, line.path, versions)) {
    if (older !== null && gone === null) {
      const step = stepForward(current, older, newer);
      if (step.kind === 'absent')
        gone = { kind: 'gone', line: current, removal: await removalOf(repository, current, older, newer) };
      else current = step.line;
    } else if (gone !== null) {
      const back = locate(gone.line, newer);
      if (back !== undefined) {
        current = back;
        gone = null;
      }
    }
    older = newer;
  }
  return gone ?? { kind: 'stands', line: current, reworded: current.hash !== line.hash };
}

/** Who took a line away between two versions, one right after the other, and what took its place. */
export async function removalOf(
  repository: Repository,
  line: MemoryLine,
  older: ReadVersion,
  newer: ReadVersion,
): Promise<Removal> {
  const was = locate(line, older);
  const step = stepForward(line, older, newer);
  const by =
    step.kind === 'reworded'
      ? { by: step.line, link: step.kind }
      : (successionsBetween(older, newer, line.kind).find(({ gone }) => gone === was) ?? null);
  const { commit } = newer;
  for (const side of newer.end === 'cut' ? [] : commit.parents.slice(1)) {
    const left = await leftOn(repository, line, side);
    if (left !== null) return { commit: left, merge: commit, by };
  }
  return { commit, merge: null, by };
}

/** The commit of a side that no longer has the line, while the one before it has. */
async function leftOn(repository: Repository, line: MemoryLine, side: Oid): Promise<CommitInfo | null> {
  let without: CommitInfo | null = null;
  for await (const version of readVersions(repository, line.path, versionsOf(repository, side, line.path))) {
    if (version.text.includes(line.raw.split('\n', 1)[0] ?? '') && locate(line, version) !== undefined) return without;
    without = version.commit;
  }
  return null;
}

/** From the version that holds in `from` to that of `head`, the oldest first. */
async function versionsSince(repository: Repository, path: string, from: Oid, head: Oid): Promise<Version[]> {
  const before = new Set((await repository.history(from, searched)).map(({ oid }) => oid));
  const found: Version[] = [];
  for await (const version of versionsOf(repository, head, path)) {
    found.push(version);
    if (before.has(version.commit.oid)) return found.reverse();
  }
  const first: Version[] = [];
  for await (const version of versionsOf(repository, from, path)) {
    first.push(version);
    break;
  }
  return [...first, ...found.slice(0, 1)];
}

const searched = 50_000;
