import type { Repository, Signature } from '../git/types.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { Config } from '../shared/config-schema.ts';
import type { Oid } from '../shared/files.ts';
import { openStateOfRef } from '../state/current.ts';
import type { State } from '../state/database.ts';
import { claimExtraction, recordFailure } from '../state/extraction.ts';
import type { StartedRun } from '../state/night-record.ts';
import { stateRef, writeStateCommit } from '../state/ref.ts';
import { listRuns, recordRun } from '../state/runs.ts';
import { snapshotOf } from '../state/snapshot.ts';
import { getThread } from '../state/threads.ts';
import type { StateTree } from '../state/tree.ts';
import type { Refs } from './commits.ts';
import { extractorClassOf } from './outlook.ts';

/**
 * How a started run ended. `done`: its result stands. `kept`: it has none, but nothing was under way when it stopped.
 * `lost`: nobody knows what it did: an attempt for each of its threads, its whole allowance against the caps.
 */
export type RunEnd = 'done' | 'kept' | 'lost';

export interface Closing {
  readonly repository: Repository;
  readonly refs: Pick<Refs, 'swap'>;
  readonly config: Config;
  readonly author: Signature;
  /** Seconds that a failed session waits. */
  readonly retrySeconds: number;
  readonly now: EpochSeconds;
}

/**
 * Writes down how a started run ended. Unless its result stands, the record stays without threads and allowance: the
 * next night takes over its journal.
 * @param tree with the started run in it. @param expected what the state ref holds.
 * @returns what the ref holds now.
 */
export async function closeRun(tree: StateTree, expected: Oid, end: RunEnd, closing: Closing): Promise<Oid> {
  const { startedRun } = tree.night;
  if (startedRun === null) return expected;
  const rest: StartedRun = { ...startedRun, threads: [], allowanceTokens: 0 };
  const isOpen = startedRun.threads.length > 0 || startedRun.allowanceTokens > 0;
  if (end !== 'done' && !isOpen) return expected;
  const text = end === 'lost' ? await counted(tree.text, startedRun, closing) : tree.text;
  const night = { ...tree.night, startedRun: end === 'done' ? null : rest };
  const { repository, refs, author, now: at } = closing;
  const message = `state: run ${startedRun.runId} ended, ${end}\n`;
  const commit = await writeStateCommit(repository, { expected, tree: { ...tree, text, night }, at, author, message });
  await refs.swap(stateRef, expected, commit);
  return commit;
}

/** Sessions that a night reads at most, after one that was lost: half of what that one had begun; null is no limit. */
export function sliceAfter(state: State): number | null {
  const { unfinished, threads = 0 } = listRuns(state, 1)[0]?.counts ?? {};
  return unfinished === 1 && threads > 0 ? Math.max(1, Math.floor(threads / 2)) : null;
}

async function counted(text: string, started: StartedRun, closing: Closing): Promise<string> {
  const state = await openStateOfRef(text);
  for (const threadId of started.threads) countAttempt(state, threadId, started, closing);
  recordRun(state, {
    runId: started.runId,
    startedAt: started.startedAt,
    finishedAt: closing.now,
    outcome: 'failed',
    counts: { unfinished: 1, threads: started.threads.length },
    usage: {
      unfinished: { input: started.allowanceTokens, micro_usd: mostOf(started.allowanceTokens, closing.config) },
    },
    models: '',
    promptsHash: '',
  });
  return snapshotOf(state);
}

/** As of the run's start, so that the next night need not wait. */
function countAttempt(state: State, threadId: string, started: StartedRun, { config, retrySeconds }: Closing): void {
  const thread = getThread(state, threadId);
  if (thread === null) return;
  const claim = claimExtraction(state, {
    threadId,
    watermark: thread.updatedAt,
    extractorClass: extractorClassOf(config.model.provider),
    now: started.startedAt,
    leaseSeconds: retrySeconds,
    workerId: started.runId,
    token: `${started.runId}:${threadId}`,
    ignoreBackoff: true,
  });
  if (claim.outcome !== 'claimed') return;
  recordFailure(state, claim, 'the run that was to read it did not end', started.startedAt, retrySeconds);
}

/** Millionths of a dollar that so many tokens cost at most, by the dearest price of the configuration. */
function mostOf(tokens: number, { model }: Config): number {
  const prices = Object.values(model.prices).flatMap((price) =>
    price === undefined ? [] : [price.input, price.output],
  );
  return Math.round(tokens * Math.max(0, ...prices));
}
