import { RefMovedError } from '../git/errors.ts';
import type { Repository, Signature } from '../git/types.ts';
import type { Journal } from '../model/journal.ts';
import type { Ledger } from '../model/ledger.ts';
import { type ReadPolicy, type SkipReason, whySkipped } from '../phase1/decide.ts';
import { type ExtractionPolicy, type ExtractionReport, extractMemories } from '../phase1/run.ts';
import type { Extractor } from '../phase1/types.ts';
import { addNewInputs } from '../phase2/inputs.ts';
import { type ConsolidationPolicy, type ConsolidationReport, consolidate } from '../phase2/run.ts';
import type { Consolidator } from '../phase2/types.ts';
import type { Found, Rollouts } from '../rollout/source.ts';
import type { Clock, EpochSeconds } from '../shared/clock.ts';
import type { Files } from '../shared/files.ts';
import type { Progress } from '../shared/log.ts';
import { sha256, shortThreadId } from '../shared/thread-id.ts';
import { horizonOf, type Pruned, prune } from '../state/prune.ts';
import { recordRun } from '../state/runs.ts';
import { snapshotOf } from '../state/snapshot.ts';
import { getThread, threadByShortId, upsertThread } from '../state/threads.ts';
import { tombstonesOf } from '../state/tombstones.ts';
import type { RunRow } from '../state/types.ts';
import { bulletsOf, parseHandbook } from '../workspace/handbook.ts';
import { handbookPath, isGenerated } from '../workspace/layout.ts';
import { type Commits, commitNight } from './commits.ts';
import { type PeoplesWork, recordPeople } from './people.ts';
import { loadStart, type Start } from './start.ts';

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
  readonly author: Signature;
}

/** The world as a night needs it. */
export interface NightPorts {
  readonly repository: Repository;
  readonly rollouts: Rollouts;
  readonly extractor: Extractor;
  readonly consolidator: Consolidator;
  readonly fallback: Consolidator;
  readonly journal: Journal;
  readonly ledger: Ledger;
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
  readonly pruned: Pruned;
  readonly phase1: ExtractionReport;
  readonly phase2: ConsolidationReport;
  readonly commits: Commits;
  readonly branch: string;
  readonly stateBytes: number;
}

/** Tries after which a night that always loses the swap gives up. */
const swapTries = 5;

/**
 * One night: from what the refs hold now to two commits. Whoever loses the swap starts again from the new state; what
 * was paid for is answered by the journal.
 * @throws ModelError that stops the night, GitError, and the signal's reason; the branch is then as it was.
 */
export async function runNight(policy: NightPolicy, ports: NightPorts, signal?: AbortSignal): Promise<NightReport> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const report = await playNight(policy, ports, signal);
      ports.journal.clear([
        ...report.phase1.extracted,
        ...report.phase1.nothing,
        ...report.phase1.failed.map((one) => one.threadId),
      ]);
      return report;
    } catch (error) {
      if (!(error instanceof RefMovedError) || attempt === swapTries) throw error;
    }
  }
}

async function playNight(policy: NightPolicy, ports: NightPorts, signal?: AbortSignal): Promise<NightReport> {
  const now = ports.clock.now();
  const start = await loadStart(ports.repository);
  const mask = (files: Files) => withoutSecrets(files, ports.redact);
  const memory = { files: mask(start.memories), baseline: start.baseline };
  const { found, ignored } = policy.phases.one ? await ports.rollouts.list(signal) : { found: [], ignored: [] };
  const runId = runIdOf(start, found, ports, now);
  const people = await recordPeople(ports.repository, start, mask, runId, now);
  const pruned = prune(start.state, {
    now,
    maxUnusedDays: policy.maxUnusedDays,
    reachedAt: new Map(),
    namedThreads: namedThreads(start),
  });
  const { candidates, skipped } = whatToRead(start, found, policy.reading, now);
  const spent = () => spentNote(ports.ledger);
  const phase1 = await extractMemories(
    start.state,
    candidates,
    runId,
    policy.extraction,
    { ...ports, attempts: attemptsOf(ports.journal), spent },
    signal,
  );
  const phase2 = policy.phases.two
    ? await consolidate(start.state, memory, runId, policy.consolidation, { ...ports, spent }, signal)
    : addNewInputs(start.state, memory, policy.consolidation, now);
  const outcome = outcomeOf(start, phase1, phase2, ports.ledger);
  if (outcome !== 'quiet') recordRun(start.state, runRow(runId, now, outcome, found, phase1, phase2, ports));
  const stateText = snapshotOf(start.state);
  const commits = await commitNight(ports.repository, start, {
    runId,
    at: now,
    files: phase2.files,
    stateText,
    baseline: phase2.baseline,
    author: policy.author,
    sessions: phase1.extracted.length + phase1.nothing.length,
    repositories: phase2.scopes.filter(({ files, scope }) => files !== null && scope !== '*').map(({ scope }) => scope),
    trailers: trailersOf(runId, phase1, phase2, ports),
  });
  return {
    runId,
    phases: policy.phases,
    outcome,
    found,
    ignored,
    skipped: new Map([...skipped, ...phase1.skipped]),
    people,
    pruned,
    phase1,
    phase2,
    commits,
    branch: start.branch,
    stateBytes: Buffer.byteLength(stateText),
  };
}

/** What people wrote into the memory is read without the secrets that it may hold, and so written back. */
function withoutSecrets(files: Files, redact: (text: string) => string): Files {
  return new Map([...files].map(([path, text]) => [path, isGenerated(path) ? text : redact(text)]));
}

/** Equal inputs give equal ids, so that a night that is played again writes the same commits. */
function runIdOf(start: Start, found: readonly Found[], ports: NightPorts, now: EpochSeconds): string {
  const inputs = found.map(({ thread }) => `${thread.id} ${thread.updatedAt}`);
  const makers = [ports.extractor.promptHash, ports.consolidator.promptHash];
  return sha256(JSON.stringify([start.base, now, inputs, makers])).slice(0, 16);
}

/** Notes every session that is in time, and says of the others why they are not read. */
export function whatToRead(
  start: Pick<Start, 'state'>,
  found: readonly Found[],
  policy: ReadPolicy,
  now: EpochSeconds,
): { candidates: Found[]; skipped: Map<string, SkipReason> } {
  const tombstones = tombstonesOf(start.state);
  const horizon = horizonOf(start.state) ?? 0;
  const skipped = new Map<string, SkipReason>();
  const candidates: Found[] = [];
  for (const entry of found) {
    const { thread } = entry;
    const row = getThread(start.state, thread.id);
    const known = {
      firstSeenAt: row?.firstSeenAt ?? null,
      memoryMode: row?.memoryMode ?? 'enabled',
      tombstoned: tombstones.hidesThread(thread.id) || tombstones.hidesAuthor(thread.author),
      horizon,
    };
    const taken = threadByShortId(start.state, shortThreadId(thread.id));
    const isTaken = taken !== null && taken.threadId !== thread.id;
    const reason = whySkipped(entry, known, policy, now) ?? (isTaken ? 'short_id_taken' : null);
    if (reason !== null) skipped.set(thread.id, reason);
    else candidates.push(entry);
    if (reason === null || reason === 'not_idle') {
      const { id, kind: _kind, ...rest } = thread;
      upsertThread(start.state, {
        ...rest,
        threadId: id,
        firstSeenAt: known.firstSeenAt ?? now,
        memoryMode: known.memoryMode,
      });
    }
  }
  return { candidates, skipped };
}

/** Threads that a standing line of the handbook names: their rows are kept. */
function namedThreads(start: Start): Set<string> {
  const { blocks } = parseHandbook(start.memories.get(handbookPath) ?? '');
  const shortIds = new Set(blocks.flatMap(bulletsOf).flatMap(({ evidence }) => evidence.map(({ thread }) => thread)));
  return new Set([...shortIds].flatMap((shortId) => threadByShortId(start.state, shortId)?.threadId ?? []));
}

function attemptsOf(journal: Journal) {
  const died = journal.diedAttempts();
  return {
    died: (threadId: string) => died.get(threadId) ?? 0,
    begin: async (threadId: string) => journal.begin(threadId, 'rollout'),
    end: async (threadId: string) => journal.end(threadId, 'rollout'),
  };
}

/** Quiet: neither the tables nor the files differ from what the night found, and nothing was paid for. */
function outcomeOf(
  start: Start,
  phase1: ExtractionReport,
  phase2: ConsolidationReport,
  ledger: Ledger,
): RunRow['outcome'] {
  const isSame = snapshotOf(start.state) === start.stateText && equalFiles(start.memories, phase2.files);
  if (isSame && ledger.total().answers === 0) return 'quiet';
  const failures = phase1.failed.length + phase2.scopes.filter(({ outcome }) => outcome === 'failed').length;
  return failures > 0 ? 'partly' : 'done';
}

function equalFiles(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  return a.size === b.size && [...a].every(([path, text]) => b.get(path) === text);
}

function runRow(
  runId: string,
  now: EpochSeconds,
  outcome: RunRow['outcome'],
  found: readonly Found[],
  phase1: ExtractionReport,
  phase2: ConsolidationReport,
  ports: NightPorts,
): RunRow {
  const scopes = (wanted: string) => phase2.scopes.filter((scope) => scope.outcome === wanted).length;
  return {
    runId,
    startedAt: now,
    finishedAt: ports.clock.now(),
    outcome,
    counts: {
      found: found.length,
      extracted: phase1.extracted.length,
      nothing: phase1.nothing.length,
      failed: phase1.failed.length,
      left: phase1.left.length,
      unverified: phase1.unverified,
      secrets: Object.values(phase1.secrets).reduce((sum, count) => sum + count, 0),
      scopes_consolidated: scopes('consolidated') + scopes('code_only'),
      scopes_failed: scopes('failed'),
      dropped: phase2.scopes.reduce((sum, scope) => sum + scope.dropped.length, 0),
    },
    usage: { phase1: usageOf(ports.ledger, 'phase1'), phase2: usageOf(ports.ledger, 'phase2') },
    models: ports.models,
    promptsHash: `${ports.extractor.promptHash.slice(0, 16)} ${ports.consolidator.promptHash.slice(0, 16)}`,
  };
}

/** How often a request had to be sent again depends on the server's mood: it is told, not recorded. */
function usageOf(ledger: Ledger, purpose: 'phase1' | 'phase2'): Record<string, number> {
  const { usage, usd, answers } = ledger.total(purpose);
  return { ...usage, requests: answers, micro_usd: Math.round(usd * 1_000_000) };
}

function trailersOf(
  runId: string,
  phase1: ExtractionReport,
  phase2: ConsolidationReport,
  ports: NightPorts,
): Record<string, string> {
  const { usage } = ports.ledger.total();
  const consolidated = phase2.scopes.filter(({ files }) => files !== null).length;
  const byCode = phase2.scopes.filter(({ outcome }) => outcome === 'code_only').map(({ scope }) => scope);
  return {
    'Memory-Run': runId,
    'Memory-Phase1': `${phase1.extracted.length} extracted, ${phase1.nothing.length} without output, ${phase1.failed.length} failed`,
    'Memory-Phase2': `${consolidated} scopes${byCode.length === 0 ? '' : `, by code alone: ${byCode.join(' ')}`}`,
    'Memory-Model': ports.models,
    'Memory-Prompts': `${ports.extractor.promptHash.slice(0, 12)} ${ports.consolidator.promptHash.slice(0, 12)}`,
    'Memory-Tokens': `${usage.input} in, ${usage.output} out`,
  };
}

function spentNote(ledger: Ledger): string {
  const { usage, usd } = ledger.total();
  if (usage.requests === 0) return '';
  const cost = usd > 0 ? ` · $${usd.toFixed(2)}` : '';
  return `${Math.round((usage.input + usage.output) / 1000)}k tokens${cost}`;
}
