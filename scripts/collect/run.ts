import type { AddOutcome } from '../archive/add.ts';
import { writeRollout } from '../rollout/canonical.ts';
import type { Checkouts } from '../rollout/checkouts.ts';
import { redactRollout } from '../rollout/redacted.ts';
import { type Found, openRollouts, type Rollouts } from '../rollout/source.ts';
import { withoutRepeats } from '../rollout/thread.ts';
import type { Rollout } from '../rollout/types.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Progress } from '../shared/log.ts';
import type { Redactor } from '../shared/redact.ts';
import { type LeftOut, type SendPolicy, whyLeftOut } from './decide.ts';
import { looked, type Transcript } from './scan.ts';
import { relatives, type Seen, type SeenByPath } from './seen.ts';

export interface CollectPorts {
  readonly checkouts: Checkouts;
  readonly home: string;
  readonly redactor: Redactor;
  /** What sessions call their author. */
  readonly author: string;
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
  const { rollouts, found, ignored } = await readWithKin([...changed.values()], known, policy, ports, signal);
  for (const { path, reason } of ignored) {
    const transcript = changed.get(path);
    if (transcript === undefined) continue;
    if (reason.startsWith('unreadable')) report.failed.push({ path, why: reason });
    else {
      report.noSession += 1;
      seen.set(path, rowOf(transcript, null, false));
    }
  }
  const wanted: Wanted[] = [];
  for (const one of found) {
    const transcript = changed.get(one.path);
    if (transcript === undefined) continue;
    const why = whyLeftOut(one, policy);
    if (why === null) wanted.push({ found: one, transcript });
    else {
      report.leftOut[why] = (report.leftOut[why] ?? 0) + 1;
      seen.set(one.path, rowOf(transcript, { found: one, rollout: null }, false));
    }
  }
  let part: Ready[] = [];
  for (const [index, one] of wanted.entries()) {
    signal?.throwIfAborted();
    const ready = await readyOf(one, rollouts, known.get(one.transcript.path), ports, report, signal);
    if (ready !== null) part.push(ready);
    const isFull = part.length >= partSessions || part.reduce((sum, { bytes }) => sum + bytes, 0) >= partBytes;
    if (isFull || index === wanted.length - 1) {
      report.sent.push(...(await sendPart(part, seen, ports)));
      part = [];
    }
    ports.progress({ stage: 'collect: sessions', done: index + 1, total: wanted.length, note: '' });
  }
  if (wanted.length === 0) await ports.settled(seen);
  return report;
}

/** A part is held in memory, is one commit, and is what a death costs. */
const partSessions = 200;
const partBytes = 16 * 1024 * 1024;

interface Wanted {
  readonly found: Found;
  readonly transcript: Transcript;
}

interface Ready extends Wanted {
  readonly rollout: Rollout;
  readonly bytes: number;
}

type OpenReport = { -readonly [K in keyof CollectReport]: CollectReport[K] } & {
  sent: Sent[];
  leftOut: Partial<Record<LeftOut, number>>;
  failed: { path: string; why: string }[];
};

function emptyReport(unchanged: number): OpenReport {
  return { sent: [], leftOut: {}, unchanged, noSession: 0, failed: [] };
}

/** Opens the changed transcripts together with those that they may repeat. */
async function readWithKin(
  changed: readonly Transcript[],
  known: SeenByPath,
  policy: SendPolicy,
  { checkouts, home }: CollectPorts,
  signal?: AbortSignal,
) {
  const place = { include: policy.include, checkouts, home };
  const own = new Set(changed.map(({ path }) => path));
  const alone = openRollouts(changed, place);
  const listed = await alone.list(signal);
  const kin = new Set(listed.found.flatMap((found) => found.kin ?? []));
  const standing = await looked(relatives(kin, known).filter(({ path }) => !own.has(path)));
  if (standing.length === 0) return { rollouts: alone, ...listed };
  const rollouts = openRollouts([...changed, ...standing], place);
  return { rollouts, ...(await rollouts.list(signal)) };
}

/** @returns null where its file is gone or changed under our hands; the next run looks again. */
async function readyOf(
  one: Wanted,
  rollouts: Rollouts,
  before: Seen | undefined,
  { redactor, author }: CollectPorts,
  report: OpenReport,
  signal?: AbortSignal,
): Promise<Ready | null> {
  try {
    const read = withoutKnownRepeats(await rollouts.read(one.found.thread.id, signal), before);
    const clean = redactRollout(read, redactor);
    const rollout = { ...clean, thread: { ...clean.thread, author } };
    return { ...one, rollout, bytes: Buffer.byteLength(writeRollout(rollout)) };
  } catch (error) {
    if (!(error instanceof MemoryError) || signal?.aborted) throw error;
    report.failed.push({ path: one.transcript.path, why: error.message });
    return null;
  }
}

/** What it repeated when the others were still there is repeated now. */
function withoutKnownRepeats(rollout: Rollout, before: Seen | undefined): Rollout {
  const now = rollout.skipped.repeated ?? 0;
  const missing = (before?.repeated ?? 0) - now;
  if (missing <= 0) return rollout;
  const own = withoutRepeats(rollout, new Set(rollout.items.slice(0, missing).map(({ n }) => n)));
  return { ...own, skipped: { ...own.skipped, repeated: now + missing } };
}

async function sendPart(part: readonly Ready[], seen: Map<string, Seen>, ports: CollectPorts): Promise<Sent[]> {
  const outcomes =
    part.length === 0 ? new Map<string, AddOutcome>() : await ports.send(part.map(({ rollout }) => rollout));
  const sent = part.map(({ found, transcript, rollout, bytes }): Sent => {
    seen.set(transcript.path, rowOf(transcript, { found, rollout }, true));
    const { thread, items, redaction: secrets } = rollout;
    return { outcome: outcomes.get(thread.id) ?? 'same', thread, items: items.length, bytes, secrets };
  });
  await ports.settled(seen);
  return sent;
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
