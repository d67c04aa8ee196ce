import { shallowCommits } from '../git/remote-history.ts';
import type { CommitInfo, Repository } from '../git/types.ts';
import type { Oid } from '../shared/files.ts';
import { linesOf, type MemoryLine } from './lines.ts';

/** One state of a file in a first-parent history. */
export interface Version {
  /** The commit that made it so. */
  readonly commit: CommitInfo;
  readonly blob: Oid | null;
  /** `root`: the history begins here; `cut`: more of it exists elsewhere; null: an older version follows. */
  readonly end: 'root' | 'cut' | null;
}

/** A version with its text, CRLF read as LF; '' where the file did not stand. */
export interface ReadVersion extends Version {
  readonly text: string;
  lines(): readonly MemoryLine[];
}

/** First-parent commits that are looked at. */
export const mostCommits = 50_000;

/** Texts held at once: a handbook has 256 KB at most, so 64 MB. */
const together = 256;

/**
 * The versions of one file in a commit's first-parent history, newest first. Commits that leave it as it was are passed
 * over by the oids in their trees; no file is read.
 */
export async function* versionsOf(repository: Repository, from: Oid, path: string): AsyncGenerator<Version> {
  const boundary = await shallowCommits(repository.commonDir);
  let open: { commit: CommitInfo; blob: Oid | null } | null = null;
  let next: Oid | undefined = from;
  for (let size = 256, seen = 0; next !== undefined; size = Math.min(4_096, size * 2)) {
    const commits: readonly CommitInfo[] = await repository.history(next, size);
    const blobs = await repository.oidsAt(
      commits.map(({ oid }) => oid),
      path,
    );
    for (const [at, commit] of commits.entries()) {
      const blob = blobs[at] ?? null;
      if (open !== null && open.blob !== blob) yield { ...open, end: null };
      open = { commit, blob };
    }
    seen += commits.length;
    const parent: Oid | undefined = open?.commit.parents[0];
    const isCut = open !== null && parent !== undefined && (boundary.has(open.commit.oid) || seen >= mostCommits);
    next = isCut ? undefined : parent;
    if (open !== null && next === undefined) yield { ...open, end: isCut ? 'cut' : 'root' };
  }
}

/** The same versions with their texts, read many at a time. */
export async function* readVersions(
  repository: Repository,
  path: string,
  versions: AsyncIterable<Version> | Iterable<Version>,
): AsyncGenerator<ReadVersion> {
  let waiting: Version[] = [];
  let size = 2;
  for await (const version of versions) {
    waiting.push(version);
    if (waiting.length < size) continue;
    yield* await withTexts(repository, path, waiting);
    waiting = [];
    size = Math.min(together, size * 2);
  }
  yield* await withTexts(repository, path, waiting);
}

async function withTexts(repository: Repository, path: string, versions: readonly Version[]): Promise<ReadVersion[]> {
  const blobs = [...new Set(versions.flatMap(({ blob }) => blob ?? []))];
  const bytes = blobs.length === 0 ? [] : await repository.readBlobs(blobs);
  const texts = new Map(blobs.map((blob, at) => [blob, textOf(bytes[at])]));
  return versions.map((version) => withLines(version, path, texts.get(version.blob ?? '') ?? ''));
}

function withLines(version: Version, path: string, text: string): ReadVersion {
  let lines: readonly MemoryLine[] | null = null;
  return {
    ...version,
    text,
    lines: () => {
      lines ??= linesOf(path, text);
      return lines;
    },
  };
}

function textOf(bytes: Buffer | undefined): string {
  return bytes === undefined ? '' : bytes.toString('utf8').replaceAll('\r\n', '\n');
}
