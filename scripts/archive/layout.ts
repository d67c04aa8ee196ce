import type { EpochSeconds } from '../shared/clock.ts';
import { rolloutPath } from '../workspace/layout.ts';

/** Where the team's sessions are, unless the configuration says otherwise. */
export const archiveRef = 'refs/memory/rollouts';

/** The copy of what is forgotten, for those who may not read the state. */
export const tombstonesPath = 'tombstones.json';

/** `<yyyy>/<mm>/<dd>/<thread id>.jsonl`, by the session's start in UTC. */
export function archivePath(thread: { readonly id: string; readonly startedAt: EpochSeconds }): string {
  return rolloutPath(thread.id, thread.startedAt);
}

/** The thread whose rollout a path of the ref's tree is; null for any other path, such as a note. */
export function threadAt(path: string): string | null {
  return /^\d{4}\/\d\d\/\d\d\/([A-Za-z0-9][A-Za-z0-9._-]{0,79})\.jsonl$/.exec(path)?.[1] ?? null;
}
