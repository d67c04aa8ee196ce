import type { CarriedNote } from '../archive/note-file.ts';
import type { Repository, Signature } from '../git/types.ts';
import type { Journal } from '../model/journal.ts';
import type { Ledger } from '../model/ledger.ts';
import { refusalsOf } from '../phase1/claim.ts';
import type { ReadPolicy, SkipReason } from '../phase1/decide.ts';
import { type ExtractionPolicy, type ExtractionReport, extractMemories } from '../phase1/run.ts';
import type { Extractor } from '../phase1/types.ts';
import { addNewInputs } from '../phase2/inputs.ts';
import { withoutRequested } from '../phase2/on-request.ts';
import { type ConsolidationPolicy, type ConsolidationReport, consolidate } from '../phase2/run.ts';
import type { Consolidator } from '../phase2/types.ts';
import type { Found, Rollouts } from '../rollout/source.ts';
import type { Clock, EpochSeconds } from '../shared/clock.ts';
import { byBinary, type Files } from '../shared/files.ts';
import type { Progress } from '../shared/log.ts';
import { sha256 } from '../shared/thread-id.ts';
import { type Pruned, prune } from '../state/prune.ts';
import { recordRun } from '../state/runs.ts';
import { snapshotOf } from '../state/snapshot.ts';
import type { RunRow } from '../state/types.ts';
import { isGenerated } from '../workspace/layout.ts';
import { settleAccounts } from './accounts.ts';
import type { Batches } from './batches.ts';
import { type BatchesTonight, handOver, leftOf, readTonight } from './batches-tonight.ts';
import type { Commits, Made } from './commits.ts';
import { outcomeOf, runRow, trailersOf } from './ledger-row.ts';
import { type NotesTaken, takeNotes } from './notes.ts';
import { type PeoplesWork, recordPeople } from './people.ts';
import { namedThreads, whatToRead } from './reading.ts';
import type { Start } from './start.ts';
import { recordUsage, type UsageReport } from './usage.ts';

/** What a night does: both, or one half. */
export interface Phases {
  /** Sessions → stage-1 outputs. */
  readonly one: boolean;
  /** Stage-1 outputs → memory files. Without it the new sessions' inputs alone are added. */
  readonly two: boolean;
}

export interface NightPolicy {
  readonly phases: Phases;
  readonly reading: ReadPolicy;
  readonly extraction: ExtractionPolicy;
  readonly consolidation: ConsolidationPolicy;
  readonly maxUnusedDays: number;
  /** Dollars; without it there is no such limit. */
  readonly usdPerMonth?: number;
  readonly author: Signature;
  /** The sessions that may be read tonight; the others wait. Without it all. */
  readonly only?: ReadonlySet<string>;
}

/** The world as a night needs it. */
export interface NightPorts {
  readonly repository: Repository;
  readonly rollouts: Rollouts;
  /** What people and agents asked to have remembered, redacted. Without it none. */
  notes?(signal?: AbortSignal): Promise<readonly CarriedNote[]>;
  readonly extractor: Extractor;
  readonly consolidator: Consolidator;
  readonly fallback: Consolidator;
  readonly journal: Journal;
  readonly ledger: Ledger;
  /** Absent where no model is asked: what is under way then waits. */
  readonly batches?: Batches;
  readonly clock: Clock;
  /** Names of the models that are asked, for the ledger. */
  readonly models: string;
  readonly redact: (text: string) => string;
  progress(progress: Progress): void;
  goesOn(): boolean;
}

export interface NightReport {
  readonly runId: string;
  readonly phases: Phases;
  readonly outcome: RunRow['outcome'];
  readonly found: readonly Found[];
  readonly ignored: readonly { readonly path: string; readonly reason: string }[];
  readonly skipped: ReadonlyMap<string, SkipReason>;
  readonly people: PeoplesWork;
  readonly usage: UsageReport;
  readonly notes: Omit<NotesTaken, 'files'>;
  readonly pruned: Pruned;
  readonly phase1: ExtractionReport;
  readonly batches: BatchesTonight;
  readonly phase2: ConsolidationReport;
  readonly commits: Commits;
  readonly branch: string;
  readonly stateBytes: number;
}

/** A night's result, ready to be committed, and what to say of it. */
export interface Played {
  readonly made: Made;
  readonly report: Omit<NightReport, 'commits'>;
}

/**
 * Plays a night over what it starts from: values in, values out. Moves no ref and writes no file but the journal's.
 * @throws ModelError that stops the night, and the signal's reason.
 */
export async function playNight(
  start: Start,
  policy: NightPolicy,
  ports: NightPorts,
  signal?: AbortSignal,
): Promise<Played> {
  const now = ports.clock.now();
  const mask = (files: Files) => withoutSecrets(files, ports.redact);
  const { found, ignored } = policy.phases.one ? await ports.rollouts.list(signal) : { found: [], ignored: [] };
  const carried = policy.phases.one ? ((await ports.notes?.(signal)) ?? []) : [];
  const runId = runIdOf(start, found, carried, ports, now);
  settleAccounts(start, ports.ledger, policy.usdPerMonth, { runId, now });
  const people = recordPeople(start, mask, runId, now);
  const usage = await recordUsage(start, found, policy, ports.rollouts, now, signal);
  const pruned = prune(start.state, {
    now,
    maxUnusedDays: policy.maxUnusedDays,
    reachedAt: start.reachedAt,
    namedThreads: namedThreads(start),
  });
  const { files, ...notes } = takeNotes(start.state, mask(start.memories), carried, policy.reading, ports.redact, now);
  const memory = { files: withoutRequested(start.state)(files), baseline: start.baseline };
  const seen = await readTonight(start, policy.phases.one, now, ports, signal);
  const { candidates, skipped } = whatToRead(start, found, { ...policy.reading, asked: seen.asked }, now);
  const isMeant = ({ thread }: Found) => (policy.only?.has(thread.id) ?? true) || seen.asked.has(thread.id);
  const spent = () => spentNote(ports.ledger);
  const read = await extractMemories(
    start.state,
    candidates.filter(isMeant),
    runId,
    { ...policy.extraction, underWay: seen.waited },
    { ...ports, attempts: attemptsOf(ports.journal), isPaid: isOffered(ports.journal), spent },
    signal,
  );
  const others = candidates.filter((entry) => !isMeant(entry));
  const { ignoreBackoff } = policy.extraction;
  const questions = { extractorClass: ports.extractor.class, now, ignoreBackoff, underWay: seen.waited };
  const refused = refusalsOf(start.state, others, questions);
  const waiting = others.map(({ thread }) => thread.id).filter((id) => !refused.has(id));
  const done = new Set([...read.extracted, ...read.nothing, ...read.failed.map(({ threadId }) => threadId)]);
  const why = new Map([...skipped, ...refused, ...read.skipped]);
  const before = leftOf(seen, (id) => done.has(id) || why.has(id));
  const batches = await handOver(before, read.deferred, found, { runId, now }, ports, signal);
  const postponed = batches.submitted === null ? read.deferred : [];
  const phase1 = { ...read, left: [...read.left, ...postponed, ...waiting] };
  const selection = { ...policy.consolidation.selection, reachedAt: start.reachedAt };
  const consolidation = { ...policy.consolidation, selection };
  const phase2 = policy.phases.two
    ? await consolidate(start.state, memory, runId, consolidation, { ...ports, spent }, signal)
    : addNewInputs(start.state, memory, consolidation, now);
  const halves = { found: found.length, citations: usage.citations, phase1, batches, phase2 };
  const outcome = outcomeOf(start, halves, ports.ledger);
  if (outcome !== 'quiet') recordRun(start.state, runRow(runId, now, outcome, halves, ports));
  const stateText = snapshotOf(start.state);
  const made: Made = {
    runId,
    at: now,
    files: phase2.files,
    stateText,
    baseline: phase2.baseline,
    batches: batches.batches,
    author: policy.author,
    sessions: phase1.extracted.length + phase1.nothing.length,
    repositories: phase2.scopes.filter(({ files, scope }) => files !== null && scope !== '*').map(({ scope }) => scope),
    trailers: trailersOf(runId, halves, ports),
  };
  const report = {
    runId,
    phases: policy.phases,
    outcome,
    found,
    ignored,
    skipped: why,
    people,
    usage,
    notes,
    pruned,
    phase1,
    batches,
    phase2,
    branch: start.branch,
    stateBytes: Buffer.byteLength(stateText),
  };
  return { made, report };
}

/** What people wrote into the memory is read without the secrets that it may hold, and so written back. */
export function withoutSecrets(files: Files, redact: (text: string) => string): Files {
  return new Map([...files].map(([path, text]) => [path, isGenerated(path) ? text : redact(text)]));
}

/** Equal inputs give equal ids, so that a night that is played again writes the same commits. */
function runIdOf(
  start: Start,
  found: readonly Found[],
  carried: readonly CarriedNote[],
  ports: NightPorts,
  now: EpochSeconds,
): string {
  const inputs = [
    ...found.map(({ thread }) => `${thread.id} ${thread.updatedAt}`),
    ...carried.map(({ name, kind }) => `${kind} ${name}`).sort(byBinary),
  ];
  const makers = [ports.extractor.promptHash, ports.consolidator.promptHash];
  return sha256(JSON.stringify([start.base, now, inputs, makers])).slice(0, 16);
}

function attemptsOf(journal: Journal) {
  const died = journal.diedAttempts();
  return {
    died: (threadId: string) => died.get(threadId) ?? 0,
    begin: async (threadId: string) => journal.begin(threadId, 'rollout'),
    end: async (threadId: string) => journal.end(threadId),
  };
}

function isOffered({ offered }: Journal): (threadId: string) => boolean {
  const threads = new Set([...offered.values()].map(({ subject }) => subject));
  return (threadId) => threads.has(threadId);
}

function spentNote(ledger: Ledger): string {
  const { usage, usd } = ledger.total();
  if (usage.requests === 0) return '';
  const cost = usd > 0 ? ` · $${usd.toFixed(2)}` : '';
  return `${Math.round((usage.input + usage.output) / 1000)}k tokens${cost}`;
}
