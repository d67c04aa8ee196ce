import { join } from 'node:path';
import { type ForgottenThere, forgetInArchive } from '../archive/forget.ts';
import { RefMovedError } from '../git/errors.ts';
import type { Signature } from '../git/types.ts';
import { withoutThreads } from '../nightly/batches.ts';
import { mirrorState } from '../nightly/begin.ts';
import { type Commits, commitNight } from '../nightly/commits.ts';
import { withoutSecrets } from '../nightly/night.ts';
import { recordPeople } from '../nightly/people.ts';
import type { Start } from '../nightly/start.ts';
import type { Clock } from '../shared/clock.ts';
import { sha256 } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import { recordRun } from '../state/runs.ts';
import { snapshotOf } from '../state/snapshot.ts';
import { type Applied, applyForgetting } from './apply.ts';
import { choose } from './choose.ts';
import type { Chosen } from './doomed.ts';
import { filesHolding, removeHeld } from './local-files.ts';
import type { Place, Working } from './place.ts';
import { keysOf, saltOf } from './request.ts';
import type { Target } from './target.ts';
import { type Trace, traceOf } from './trace.ts';
import { type Leftover, leftovers } from './verify.ts';

export interface ForgetPorts {
  readonly clock: Clock;
  readonly author: Signature;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly redact: (text: string) => string;
  /** 32 hexadecimal digits that nobody guesses. */
  readonly newSalt: string;
  /** Folders of this machine that hold answers, hand-overs and notes. */
  readonly folders: readonly string[];
}

/** What would go, or went. */
export interface Reach {
  readonly chosen: Chosen;
  readonly applied: Applied;
}

export interface Forgotten extends Reach {
  readonly commits: Commits;
  readonly branch: string;
  /** The one that takes it from the memory that people read, once it is merged. */
  readonly pullRequest: Start['night']['pullRequest'];
  readonly sessions: ForgottenThere;
  /** Files of this machine that were removed. */
  readonly files: readonly string[];
  readonly leftovers: readonly Leftover[];
}

const swapTries = 5;

/** What would be touched; nothing is. */
export async function preview(target: Target, place: Place, ports: ForgetPorts, signal?: AbortSignal): Promise<Reach> {
  const held = await place.look(signal);
  const chosen = await choose(target, held, signal);
  return { chosen, applied: applyForgetting(held, chosen, ports.newSalt, 'preview', ports.clock.now()) };
}

/**
 * Forgets: the state first, then the branch, then the sessions, then this machine; then it looks at every object that a
 * ref reaches. Whoever dies in between finds the rest when it is run again.
 * @throws NightAtWorkError
 */
export async function forget(
  target: Target,
  place: Place,
  ports: ForgetPorts,
  signal?: AbortSignal,
): Promise<Forgotten> {
  const done = await place.alone((working) => forgetAlone(target, place, working, ports, signal), signal);
  const trace = traceOf(done.chosen, done.applied);
  const holds = holdsIn(trace);
  const files = await filesHolding(ports.folders, holds, signal);
  await removeHeld(files, holds);
  return { ...done, files, leftovers: await leftovers(trace, { ...place, env: ports.env }, signal) };
}

type Done = Omit<Forgotten, 'files' | 'leftovers'>;

async function forgetAlone(
  target: Target,
  place: Place,
  working: Working,
  ports: ForgetPorts,
  signal: AbortSignal | undefined,
): Promise<Done> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await forgetOnce(target, place, working, ports, signal);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof RefMovedError) || attempt === swapTries) throw error;
    }
  }
}

async function forgetOnce(
  target: Target,
  place: Place,
  working: Working,
  { clock, author, redact, newSalt }: ForgetPorts,
  signal: AbortSignal | undefined,
): Promise<Done> {
  const { repository, archive, remote } = place;
  const { start, refs, said, isProposed } = await working.begin();
  const { state } = start;
  const at = clock.now();
  const salt = await saltOf(archive, state, newSalt, signal);
  const runId = sha256(JSON.stringify(['forget', start.base, start.stateOid, at])).slice(0, 16);
  recordPeople(start, (files) => withoutSecrets(files, redact), runId, at);
  const held = { ...start, ...said };
  const chosen = await choose(target, held, signal);
  const applied = applyForgetting(held, chosen, salt, runId, at);
  if (applied.lines.size > 0 || applied.tombstones > 0) noteRun(state, runId, at, applied);
  const made = {
    runId,
    at,
    files: applied.memories,
    stateText: snapshotOf(state),
    baseline: applied.baseline,
    batches: withoutThreads(start.night.batches, (id) => chosen.threads.has(id) || applied.doomed.threads.has(id)),
    author,
    sessions: 0,
    repositories: [],
    trailers: { 'Memory-Run': runId },
    subject: 'memory: forget on request',
  };
  const { reviewed, closed } = applied;
  let pullRequest = start.night.pullRequest;
  const follow: typeof refs.follow = async (...given) => {
    const followed = await refs.follow(...given);
    pullRequest = followed.pullRequest;
    return followed;
  };
  const begun = { ...start, reviewed, closed, isUnsettled: true };
  const commits = await commitNight(repository, { ...refs, follow }, begun, made);
  if (remote !== null && refs.keepsTips) await mirrorState(repository, commits.state);
  const sessions =
    archive === null
      ? { threads: [], items: [], notes: [] }
      : await forgetInArchive(archive, (own) => keysOf(state, chosen, own || salt), {
          clock,
          ...(signal && { signal }),
        });
  if (!isProposed && commits.inputs === null) pullRequest = null;
  return { chosen, applied, commits, branch: start.branch, pullRequest, sessions };
}

/** In the ledger, as a run is what a proposal is known by. */
function noteRun(state: State, runId: string, at: number, { lines, tombstones }: Applied): void {
  const forgotten = [...lines.values()].reduce((sum, count) => sum + count, 0);
  const counts = { forgotten_lines: forgotten, tombstones };
  recordRun(state, {
    runId,
    startedAt: at,
    finishedAt: at,
    outcome: 'done',
    counts,
    usage: {},
    models: 'none',
    promptsHash: '',
  });
}

function holdsIn(trace: Trace): (bytes: Buffer) => boolean {
  return (bytes) => trace.formIn({ bytes, name: '' }) !== null;
}

/** Where this machine keeps what the pipeline learned: below the repository, and below the laptop's own folder. */
export function ownFolders(commonDir: string, laptopState: string): string[] {
  const nights = ['journal', 'night', 'shards'].map((name) => join(commonDir, 'memory', name));
  return [...nights, join(laptopState, 'notes')];
}
