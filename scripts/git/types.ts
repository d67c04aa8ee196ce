import type { EpochSeconds } from '../shared/clock.ts';
import type { Files, Oid } from '../shared/files.ts';

/** Where HEAD points. `oid` is null on a branch that has no commit yet. */
export type Head =
  | { readonly kind: 'branch'; readonly ref: string; readonly oid: Oid | null }
  | { readonly kind: 'detached'; readonly oid: Oid };

export interface Signature {
  readonly name: string;
  readonly email: string;
}

/** A commit from values: `base`'s tree with `changes` laid over it (null deletes), without checkout or index. */
export interface CommitSpec {
  /** The commit whose tree is the start; null is the empty tree. */
  readonly base: Oid | null;
  readonly parents: readonly Oid[];
  /** Written with mode 100644. Paths go through `safePath`. */
  readonly changes: ReadonlyMap<string, string | Buffer | null>;
  /** Those of them that are written with mode 100755. */
  readonly executable?: ReadonlySet<string>;
  readonly message: string;
  readonly author: Signature;
  /** Author's and committer's time, always `+0000`. */
  readonly at: EpochSeconds;
}

export interface CommitInfo {
  readonly oid: Oid;
  readonly parents: readonly Oid[];
  readonly message: string;
  readonly author: Signature;
  readonly at: EpochSeconds;
}

/** What stands in a commit's tree. `executable` is a file, `repository` a submodule. */
export interface Leaf {
  /** What is no UTF-8 in it shows as a replacement character. */
  readonly path: string;
  readonly kind: 'file' | 'executable' | 'link' | 'repository';
  readonly oid: Oid;
}

/** One repository, without remotes. Every failure is a GitError with its remedy. */
export interface Repository {
  readonly backend: 'git' | 'isomorphic';
  /** The common directory (`.git` of the main worktree): where `memory/` (journal, locks) lives. */
  readonly commonDir: string;
  /** null in a bare repository. */
  readonly workTree: string | null;
  head(): Promise<Head>;
  /** null where the ref is absent; any other failure throws. */
  readRef(ref: string): Promise<Oid | null>;
  /** Refs below a prefix such as `refs/memory/`, by name. */
  listRefs(prefix: string): Promise<ReadonlyMap<string, Oid>>;
  /** UTF-8 texts (CRLF read as LF) of the commit's regular files at or below the given paths; others are left out. */
  readFiles(commit: Oid, paths: readonly string[]): Promise<Files>;
  /** Everything at or below the given paths of the commit, whatever it is, by path. */
  leaves(commit: Oid, paths: readonly string[]): Promise<readonly Leaf[]>;
  /** Oids of the commit's regular files at or below the given paths, by path; no file is read. */
  listFiles(commit: Oid, paths: readonly string[]): Promise<ReadonlyMap<string, Oid>>;
  /**
   * The oid of one file in each of many commits, in their order; null where there is no such regular file, or no such
   * commit here. Reads the trees of thousands of commits at a time and no file.
   */
  oidsAt(commits: readonly Oid[], path: string): Promise<readonly (Oid | null)[]>;
  /** The bytes of blobs, in the order asked for; all are held at once. @throws GitError for one that is missing. */
  readBlobs(oids: readonly Oid[]): Promise<readonly Buffer[]>;
  /** Of an annotated tag the commit that it names. */
  readCommit(oid: Oid): Promise<CommitInfo>;
  /** First-parent history, newest first; ends at a shallow clone's boundary. */
  history(from: Oid, limit: number): Promise<readonly CommitInfo[]>;
  /** The commit at the end of HEAD's first-parent history, or null (no commit, or a shallow clone). */
  rootCommit(): Promise<Oid | null>;
  remotes(): Promise<ReadonlyMap<string, string>>;
  /** Writes objects only; moves no ref. Checks afterwards that the tree differs from the base in `changes` alone. */
  writeCommit(spec: CommitSpec): Promise<Oid>;
  /** Compare-and-swap under a lock file. `expected` null creates, `next` null deletes. @throws RefMovedError */
  swapRef(ref: string, expected: Oid | null, next: Oid | null): Promise<void>;
  /**
   * Paths at or below the given ones that differ from HEAD in index or working tree, or are untracked there; none in a
   * bare repository. Asked before a night starts, so it refuses whatever would keep `refresh` from working afterwards.
   * @throws GitError for an `index.lock`, a merge or rebase under way, a missing index, a path through a symbolic link.
   */
  uncommitted(paths: readonly string[]): Promise<readonly string[]>;
  /**
   * Brings index and working tree from one commit to the next, for the paths that differ between them alone; what is
   * staged or edited elsewhere stays. Files that are already as in `to` are fine, so it can be run again.
   * @throws GitError that names an edited or untracked file in the way; then nothing was touched.
   */
  refresh(from: Oid | null, to: Oid): Promise<void>;
}
