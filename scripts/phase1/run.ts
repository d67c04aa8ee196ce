import { ModelError } from '../model/errors.ts';
import type { Usage } from '../model/types.ts';
import { addUsage, noUsage } from '../model/usage.ts';
import { filterRollout } from '../rollout/filter.ts';
import type { Found, Rollouts } from '../rollout/source.ts';
import type { Counts, Rollout, Thread } from '../rollout/types.ts';
import type { Clock } from '../shared/clock.ts';
import { messageOf } from '../shared/errors.ts';
import { byBinary } from '../shared/files.ts';
import { mapLimit } from '../shared/limit.ts';
import type { Progress } from '../shared/log.ts';
import type { State } from '../state/database.ts';
import { recordExhausted, recordFailure, releaseClaim } from '../state/extraction.ts';
import { stemsInUse } from '../state/outputs.ts';
import { type Tombstones, tombstonesOf } from '../state/tombstones.ts';
import type { EvidenceRow } from '../state/types.ts';
import { rolloutPath } from '../workspace/layout.ts';
import { type Claimed, claimSessions } from './claim.ts';
import type { ReadPolicy, SkipReason } from './decide.ts';
import { evidenceRows } from './evidence.ts';
import { createStems, recordExtraction, type Stems } from './record.ts';
import type { Extraction, ExtractionFailure, Extractor } from './types.ts';

export interface ExtractionPolicy {
  readonly concurrency: number;
  readonly leaseSeconds: number;
  readonly retrySeconds: number;
  /** `--now`: a failed rollout is tried again before its backoff is over. */
  readonly ignoreBackoff: boolean;
  /** What batches under way were asked about. */
  readonly underWay?: ReadPolicy['asked'] | undefined;
}

/** Marks what is being read, so that a process that dies leaves a trace. */
export interface Attempts {
  /** How often reading this thread ended with the death of the process. */
  died(threadId: string): number;
  begin(threadId: string): Promise<void>;
  end(threadId: string): Promise<void>;
}

export interface ExtractionPorts {
  readonly rollouts: Rollouts;
  readonly extractor: Extractor;
  readonly clock: Clock;
  readonly attempts: Attempts;
  /** Whether answers for this thread are paid for already, by a shard: it is read first, however little may be spent. */
  isPaid?(threadId: string): boolean;
  progress(progress: Progress): void;
  /** What tokens and cost so far amount to, for the progress line. */
  spent(): string;
  /** False when the night's time or allowance is over: what is left waits for the next night. */
  goesOn(): boolean;
}

export interface Failed {
  readonly threadId: string;
  readonly failure: ExtractionFailure | 'unreadable' | 'died';
  readonly detail: string;
}

export interface ExtractionReport {
  readonly extracted: readonly string[];
  readonly nothing: readonly string[];
  readonly failed: readonly Failed[];
  readonly skipped: ReadonlyMap<string, SkipReason>;
  /** Claimed but not paid for: the cap, the time or the allowance was over. */
  readonly left: readonly string[];
  /** Claimed, and their requests wait to be handed over in a batch. */
  readonly deferred: readonly string[];
  readonly unverified: number;
  readonly secrets: Readonly<Record<string, number>>;
  readonly usage: Usage;
}

/** A process that died this often over one rollout exhausts that rollout. */
const deathsAllowed = 3;

/**
 * Reads every claimed session, several at once, and records what each taught. What happens to one session never
 * depends on the others, so the order of completion leaves no trace.
 * @throws ModelError that stops the night (key, quota), and the signal's reason; claims are then left as they were.
 */
export async function extractMemories(
  state: State,
  candidates: readonly Found[],
  runId: string,
  policy: ExtractionPolicy,
  ports: ExtractionPorts,
  signal?: AbortSignal,
): Promise<ExtractionReport> {
  const { leaseSeconds, ignoreBackoff, underWay } = policy;
  const extractorClass = ports.extractor.class;
  const terms = { runId, extractorClass, now: ports.clock.now(), leaseSeconds, ignoreBackoff, underWay };
  const { claimed, refused } = state.transaction(() => claimSessions(state, candidates, terms));
  const report = emptyReport(refused);
  const dead = claimed.filter(({ found }) => ports.attempts.died(found.thread.id) >= deathsAllowed);
  for (const { found, claim } of dead) {
    recordExhausted(state, claim, `reading it killed the process ${deathsAllowed} times`, ports.clock.now());
    report.failed.push({
      threadId: found.thread.id,
      failure: 'died',
      detail: `the process died ${deathsAllowed} times over it`,
    });
  }
  const work = claimed.filter((entry) => !dead.includes(entry));
  const tombstones = tombstonesOf(state);
  const suspect = (entry: Claimed) => ports.attempts.died(entry.found.thread.id) > 0;
  const isPaid = ({ found }: Claimed) => ports.isPaid?.(found.thread.id) ?? false;
  const sound = work.filter((entry) => !suspect(entry));
  let done = 0;
  const one = async (entry: Claimed): Promise<Settled> => {
    const read = ports.goesOn() || isPaid(entry) ? await readOne(entry, tombstones, ports, signal) : left;
    done += 1;
    ports.progress({ stage: 'phase 1: rollouts', done, total: work.length, note: ports.spent() });
    return { ...entry, read };
  };
  try {
    const settled = [
      ...(await mapLimit(
        [...sound.filter(isPaid), ...sound.filter((entry) => !isPaid(entry))],
        policy.concurrency,
        one,
        signal,
      )),
      ...(await mapLimit(work.filter(suspect), 1, one, signal)),
    ].sort((a, b) => byBinary(a.found.thread.id, b.found.thread.id));
    const stems = createStems(stemsInUse(state));
    state.transaction(() => {
      for (const entry of settled) settle(state, entry, { runId, stems }, policy, ports, report);
    });
  } catch (error) {
    for (const { claim } of claimed) releaseClaim(state, claim);
    throw error;
  }
  return report;
}

interface Settled extends Claimed {
  readonly read: Read;
}

/** What is kept of a session that was read; its items are let go at once. */
type Read =
  | {
      readonly outcome: 'read';
      readonly thread: Thread;
      readonly redaction: Counts;
      readonly evidence: readonly EvidenceRow[];
      readonly extraction: Extraction;
    }
  | { readonly outcome: 'unreadable'; readonly detail: string }
  | { readonly outcome: 'left' }
  | { readonly outcome: 'deferred' };

const left = { outcome: 'left' } as const;

/** What people removed is not shown to an extractor again. */
async function readOne(
  { found }: Claimed,
  tombstones: Tombstones,
  ports: ExtractionPorts,
  signal?: AbortSignal,
): Promise<Read> {
  const { id } = found.thread;
  await ports.attempts.begin(id);
  try {
    const rollout = await rolloutOf(id, ports.rollouts, signal);
    if (typeof rollout === 'string') return { outcome: 'unreadable', detail: rollout };
    const { thread } = rollout;
    const items = filterRollout(rollout).items.filter(({ n }) => !tombstones.hidesEvidence(id, n, thread.repo));
    const input = { thread, rolloutPath: rolloutPath(id, thread.startedAt), items };
    const extraction = await ports.extractor.extract(input, signal);
    const evidence = extraction.outcome === 'extracted' ? evidenceRows(thread, rollout.items, extraction.text) : [];
    return { outcome: 'read', thread, redaction: rollout.redaction, evidence, extraction };
  } catch (error) {
    if (error instanceof ModelError && error.kind === 'budget') return left;
    if (error instanceof ModelError && error.kind === 'deferred') return { outcome: 'deferred' };
    throw error;
  } finally {
    await ports.attempts.end(id);
  }
}

async function rolloutOf(id: string, rollouts: Rollouts, signal?: AbortSignal): Promise<Rollout | string> {
  try {
    return await rollouts.read(id, signal);
  } catch (error) {
    signal?.throwIfAborted();
    return messageOf(error);
  }
}

function settle(
  state: State,
  { found, claim, read }: Settled,
  night: { readonly runId: string; readonly stems: Stems },
  policy: ExtractionPolicy,
  ports: ExtractionPorts,
  report: Gathering,
): void {
  const threadId = found.thread.id;
  const now = ports.clock.now();
  const fail = (failure: Failed['failure'], detail: string) => {
    recordFailure(state, claim, `${failure}: ${detail}`.slice(0, 400), now, policy.retrySeconds);
    report.failed.push({ threadId, failure, detail });
  };
  if (read.outcome === 'left' || read.outcome === 'deferred') {
    releaseClaim(state, claim);
    report[read.outcome].push(threadId);
    return;
  }
  if (read.outcome === 'unreadable') {
    fail('unreadable', read.detail);
    return;
  }
  const { extraction, thread, evidence } = read;
  report.usage = addUsage(report.usage, extraction.usage);
  for (const [rule, count] of Object.entries(read.redaction))
    report.secrets[rule] = (report.secrets[rule] ?? 0) + count;
  if (extraction.outcome === 'failed') {
    fail(extraction.failure, extraction.detail);
    return;
  }
  recordExtraction(state, claim, { thread, extraction, evidence }, { ...night, extractor: ports.extractor, now });
  if (extraction.outcome === 'nothing') {
    report.nothing.push(threadId);
  } else {
    report.extracted.push(threadId);
    report.unverified += extraction.unverified;
  }
}

interface Gathering {
  readonly extracted: string[];
  readonly nothing: string[];
  readonly failed: Failed[];
  readonly skipped: ReadonlyMap<string, SkipReason>;
  readonly left: string[];
  readonly deferred: string[];
  unverified: number;
  readonly secrets: Record<string, number>;
  usage: Usage;
}

function emptyReport(skipped: ReadonlyMap<string, SkipReason>): Gathering {
  return {
    extracted: [],
    nothing: [],
    failed: [],
    skipped,
    left: [],
    deferred: [],
    unverified: 0,
    secrets: {},
    usage: noUsage,
  };
}
