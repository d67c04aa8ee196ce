import type { AddOutcome } from '../archive/add.ts';
import type { Found, Rollouts } from '../rollout/source.ts';
import type { Rollout } from '../rollout/types.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Progress } from '../shared/log.ts';
import { type LeftOut, type SendPolicy, whyLeftOut } from './decide.ts';
import { type Reading, type Ready, readWithKin, readyOf, type Wanted } from './read.ts';
import type { Transcript } from './scan.ts';
import type { Seen, SeenByPath } from './seen.ts';

export interface CollectPorts extends Reading {
  /** Sends redacted sessions, each thread once; a dry run says what would become of them. */
  send(rollouts: readonly Rollout[]): Promise<ReadonlyMap<string, AddOutcome>>;
  /** After each part that was sent, so that a run that dies is continued. */
  settled(seen: SeenByPath): Promise<void>;
  progress(progress: Progress): void;
}

/** A session that left the machine, or would. */
export interface Sent {
  readonly outcome: AddOutcome;
  readonly thread: Rollout['thread'];
  readonly items: number;
  /** UTF-8 bytes of the canonical text. */
  readonly bytes: number;
  readonly secrets: Rollout['redaction'];
}

export interface CollectReport {
  /** By thread id. */
  readonly sent: readonly Sent[];
  readonly leftOut: Readonly<Partial<Record<LeftOut, number>>>;
  /** Repository → sessions that stayed because it is not included or not agreed to. */
  readonly notAllowed: ReadonlyMap<string, number>;
  readonly unchanged: number;
  /** Files that are no sessions, and further copies of one. */
  readonly noSession: number;
  readonly failed: readonly { readonly path: string; readonly why: string }[];
}

/**
 * Reads what is new or grown among the transcripts and sends what may be sent.
 * @param transcripts as they are now.
 * @param known what was seen before, of these and others; everything that is settled now is handed to `ports.settled`.
 */
export async function collect(
  transcripts: readonly Transcript[],
  known: SeenByPath,
  policy: SendPolicy,
  ports: CollectPorts,
  signal?: AbortSignal,
): Promise<CollectReport> {
  const changed = new Map(
    transcripts.filter((one) => known.get(one.path)?.fingerprint !== one.fingerprint).map((one) => [one.path, one]),
  );
  const seen = new Map(known);
  const report = emptyReport(transcripts.length - changed.size);
  if (changed.size === 0) return report;
  const listed = await readWithKin([...changed.values()], known, policy.include, ports, signal);
  const wanted = sortOut(listed, changed, policy, seen, report);
  let part: Ready[] = [];
  for (const [index, one] of wanted.entries()) {
    signal?.throwIfAborted();
    const before = known.get(one.transcript.path);
    const ready = await readyOf(one, listed.rollouts, before, ports, signal).catch(failure(one, report, signal));
    if (ready !== null && isAsSettled(ready, before)) settle(ready, 'same', seen, report);
    else if (ready !== null) part.push(ready);
    if (isFull(part)) {
      await sendPart(part, seen, ports, report);
      part = [];
    }
    ports.progress({ stage: 'collect: sessions', done: index + 1, total: wanted.length, note: '' });
  }
  await sendPart(part, seen, ports, report);
  return report;
}

type OpenReport = { -readonly [K in keyof CollectReport]: CollectReport[K] } & {
  sent: Sent[];
  leftOut: Partial<Record<LeftOut, number>>;
  notAllowed: Map<string, number>;
  failed: { path: string; why: string }[];
};

function emptyReport(unchanged: number): OpenReport {
  return { sent: [], leftOut: {}, notAllowed: new Map(), unchanged, noSession: 0, failed: [] };
}

/** Notes what stays here and why. @returns the sessions that may be sent. */
function sortOut(
  { found, ignored }: Awaited<ReturnType<Rollouts['list']>>,
  changed: ReadonlyMap<string, Transcript>,
  policy: SendPolicy,
  seen: Map<string, Seen>,
  report: OpenReport,
): Wanted[] {
  for (const { path, reason } of ignored) {
    const transcript = changed.get(path);
    if (transcript === undefined) continue;
    if (reason.startsWith('unreadable')) report.failed.push({ path, why: reason });
    else {
      report.noSession += 1;
      seen.set(path, rowOf(transcript, null, false));
    }
  }
  return found.flatMap((one) => {
    const transcript = changed.get(one.path);
    if (transcript === undefined) return [];
    const why = whyLeftOut(one, policy);
    if (why === null) return [{ found: one, transcript }];
    report.leftOut[why] = (report.leftOut[why] ?? 0) + 1;
    const { repo } = one.thread;
    if (why === 'no_consent' || why === 'repository_not_included')
      report.notAllowed.set(repo, (report.notAllowed.get(repo) ?? 0) + 1);
    const row = rowOf(transcript, { found: one, rollout: null }, false);
    seen.set(one.path, { ...row, repeated: Math.max(row.repeated, seen.get(one.path)?.repeated ?? 0) });
    return [];
  });
}

/** A part is held in memory, is one commit, and is what a death costs. */
const partSessions = 200;
const partBytes = 16 * 1024 * 1024;

function isFull(part: readonly Ready[]): boolean {
  return part.length >= partSessions || part.reduce((sum, { bytes }) => sum + bytes, 0) >= partBytes;
}

/** The next run looks again. */
function failure(
  { transcript }: Wanted,
  report: OpenReport,
  signal: AbortSignal | undefined,
): (error: unknown) => null {
  return (error) => {
    if (!(error instanceof MemoryError) || signal?.aborted) throw error;
    report.failed.push({ path: transcript.path, why: error.message });
    return null;
  };
}

/** Only its file's time changed. */
function isAsSettled({ rollout }: Ready, before: Seen | undefined): boolean {
  return before?.isSettled === true && before.sha256 === rollout.source.sha256;
}

async function sendPart(
  part: readonly Ready[],
  seen: Map<string, Seen>,
  ports: CollectPorts,
  report: OpenReport,
): Promise<void> {
  if (part.length > 0) {
    const outcomes = await ports.send(part.map(({ rollout }) => rollout));
    for (const ready of part) settle(ready, outcomes.get(ready.rollout.thread.id) ?? 'same', seen, report);
  }
  await ports.settled(seen);
}

function settle(ready: Ready, outcome: AddOutcome, seen: Map<string, Seen>, report: OpenReport): void {
  const { found, transcript, rollout, bytes } = ready;
  const { thread, items, redaction: secrets } = rollout;
  seen.set(transcript.path, rowOf(transcript, { found, rollout }, true));
  report.sent.push({ outcome, thread, items: items.length, bytes, secrets });
}

function rowOf(
  { agent, path, fingerprint }: Transcript,
  read: { readonly found: Found; readonly rollout: Rollout | null } | null,
  isSettled: boolean,
): Seen {
  return {
    agent,
    path,
    fingerprint,
    sha256: read?.rollout?.source.sha256 ?? '',
    thread: read?.found.thread.id ?? '',
    kin: read?.found.kin ?? [],
    repeated: (read?.rollout ?? read?.found)?.skipped.repeated ?? 0,
    isSettled,
  };
}
