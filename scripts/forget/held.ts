import type { Rollouts } from '../rollout/source.ts';
import type { Files } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import type { FilesByScope } from '../state/tree.ts';

/** Everything that may hold what is to be forgotten, as values. */
export interface Held {
  readonly state: State;
  /** Everything below `memories/`, as people have it now. */
  readonly memories: Files;
  readonly baseline: FilesByScope;
  readonly reviewed: FilesByScope;
  readonly closed: ReadonlyMap<string, FilesByScope>;
  /** The team's sessions and this machine's, without their secrets. */
  readonly rollouts: Rollouts;
}
