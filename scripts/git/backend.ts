import type { Oid } from '../shared/files.ts';
import type { ReadObjects } from './objects.ts';
import type { TreeChange } from './tree-read.ts';
import type { Head } from './types.ts';

/** What the git program and isomorphic-git do each in their own way; `repository.ts` does the rest once. */
export interface Backend {
  readonly name: 'git' | 'isomorphic';
  readonly readObjects: ReadObjects;
  head(): Promise<Head>;
  readRef(ref: string): Promise<Oid | null>;
  listRefs(prefix: string): Promise<ReadonlyMap<string, Oid>>;
  swapRef(ref: string, expected: Oid | null, next: Oid | null): Promise<void>;
  remotes(): Promise<ReadonlyMap<string, string>>;
  /** At most `limit` oids of the first-parent history, newest first. */
  firstParents(from: Oid, limit: number): Promise<readonly Oid[]>;
  /** The commit at the end of the first-parent history. */
  firstCommit(from: Oid): Promise<Oid>;
  /** Raw paths at or below the given raw ones. Called on a settled working tree only. */
  uncommitted(head: Oid | null, paths: readonly string[]): Promise<readonly string[]>;
  /** Called on a settled working tree only. */
  refresh(from: Oid | null, to: Oid, changes: readonly TreeChange[]): Promise<void>;
}
