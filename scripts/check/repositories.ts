import { openRepository } from '../git/open.ts';
import type { Repository } from '../git/types.ts';
import { repositoryId } from '../rollout/identity.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import { UsageError } from '../shared/errors.ts';
import type { Files, Oid } from '../shared/files.ts';

/** A repository that memory is about, as far as its objects are at hand: nothing of it is checked out or run. */
export interface AtHand {
  /** Ids that a scope may name it by. */
  readonly ids: readonly string[];
  readonly head: Oid;
  /** `AGENTS.md` and `CLAUDE.md`, wherever they stand. */
  readonly instructions: Files;
  /** Oids of all files by path, at HEAD or at another commit; null for a commit that is not here. */
  filesAt(commit: Oid): Promise<ReadonlyMap<string, Oid> | null>;
  /** Whether a name stands in any file of a commit; null for one that is not here, or that is too much to look through. */
  holdsName(name: string, commit: Oid): Promise<boolean | null>;
  /** When a file last changed on the first-parent history; null further back than is looked. */
  changedAt(path: string): Promise<EpochSeconds | null>;
}

/** @throws UsageError for a folder without a commit. */
export async function openAtHand(folder: string, env: Readonly<Record<string, string | undefined>>): Promise<AtHand> {
  const repository = await openRepository(folder, { env });
  const { oid: head } = await repository.head();
  if (head === null)
    throw new UsageError(`${folder} has no commit.`, 'Name repositories that memory is about with --repository.');
  return atHand(repository, head);
}

export async function atHand(repository: Repository, head: Oid): Promise<AtHand> {
  const remotes = [...(await repository.remotes()).values()].flatMap((url) => repositoryId(url) ?? []);
  const root = await repository.rootCommit();
  const listing = await repository.listFiles(head, ['']);
  const paths = [...listing.keys()]
    .filter((path) => /(?:^|\/)(?:AGENTS|CLAUDE)\.md$/.test(path))
    .slice(0, mostInstructions);
  const files = async (commit: Oid) => (commit === head ? listing : filesAt(repository, commit));
  const names = new Map<Oid, Promise<ReadonlySet<string> | null>>();
  return {
    ids: [...remotes, ...(root === null ? [] : [`local:${root.slice(0, 12)}`])],
    head,
    instructions: paths.length === 0 ? new Map() : await repository.readFiles(head, paths),
    filesAt: files,
    holdsName: async (name, commit) => {
      if (!names.has(commit) && names.size >= mostLookedThrough) return null;
      const known =
        names.get(commit) ?? files(commit).then((found) => (found === null ? null : namesIn(repository, found)));
      names.set(commit, known);
      return (await known)?.has(name) ?? null;
    },
    changedAt: (path) => changedAt(repository, head, path),
  };
}

const mostInstructions = 20;
const mostFiles = 20_000;
const mostBytes = 64_000_000;
const mostCommits = 200;
/** Commits of which every file is read. */
const mostLookedThrough = 6;

async function filesAt(repository: Repository, commit: Oid): Promise<ReadonlyMap<string, Oid> | null> {
  const isHere = await repository.readCommit(commit).then(
    () => true,
    () => false,
  );
  return isHere ? repository.listFiles(commit, ['']) : null;
}

/** Every word of every file that names could be written with; null for a repository that is too large. */
async function namesIn(repository: Repository, listing: ReadonlyMap<string, Oid>): Promise<ReadonlySet<string> | null> {
  const code = [...listing].filter(
    ([path]) => !/\.(?:png|jpe?g|gif|webp|pdf|zip|gz|woff2?|ttf|mp4|lock|min\.js|map)$/i.test(path),
  );
  if (code.length > mostFiles) return null;
  const names = new Set<string>();
  let bytes = 0;
  for (let from = 0; from < code.length; from += 64) {
    const blobs = await repository.readBlobs(code.slice(from, from + 64).map(([, oid]) => oid));
    for (const blob of blobs) {
      bytes += blob.length;
      if (bytes > mostBytes) return null;
      if (!blob.includes(0))
        for (const [name] of blob.toString('utf8').matchAll(/[\p{L}_$][\p{L}\p{N}_$]{2,80}/gu)) names.add(name);
    }
  }
  return names;
}

async function changedAt(repository: Repository, head: Oid, path: string): Promise<EpochSeconds | null> {
  const history = await repository.history(head, mostCommits);
  let at: EpochSeconds | null = null;
  let last: Oid | undefined;
  for (const commit of history) {
    const oid = (await repository.listFiles(commit.oid, [path])).get(path);
    if (last !== undefined && oid !== last) return at;
    last = oid ?? '';
    at = commit.at;
  }
  return history.length < mostCommits ? at : null;
}
