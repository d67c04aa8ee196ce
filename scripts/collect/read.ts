import { writeRollout } from '../rollout/canonical.ts';
import type { Checkouts } from '../rollout/checkouts.ts';
import { redactRollout } from '../rollout/redacted.ts';
import { type Found, openRollouts, type Rollouts } from '../rollout/source.ts';
import { withoutRepeats } from '../rollout/thread.ts';
import type { Rollout } from '../rollout/types.ts';
import type { Redactor } from '../shared/redact.ts';
import { looked, type Transcript } from './scan.ts';
import { relatives, type Seen, type SeenByPath } from './seen.ts';

export interface Reading {
  readonly checkouts: Checkouts;
  readonly home: string;
  readonly optOutWord?: string;
  readonly redactor: Redactor;
  /** What sessions call their author. */
  readonly author: string;
}

/** A session that may be sent, not yet in its final form. */
export interface Wanted {
  readonly found: Found;
  readonly transcript: Transcript;
}

/** As it is sent. */
export interface Ready extends Wanted {
  readonly rollout: Rollout;
  /** UTF-8 bytes of the canonical text. */
  readonly bytes: number;
}

/**
 * Opens the changed transcripts together with those that they may repeat.
 * @param include repositories that are wanted, most wanted first: one of them is a session's where it has several.
 */
export async function readWithKin(
  changed: readonly Transcript[],
  known: SeenByPath,
  include: readonly string[],
  { checkouts, home, optOutWord }: Reading,
  signal?: AbortSignal,
) {
  const place = { include, checkouts, home, ...(optOutWord === undefined ? {} : { optOutWord }) };
  const own = new Set(changed.map(({ path }) => path));
  const alone = openRollouts(changed, place);
  const listed = await alone.list(signal);
  const kin = new Set(listed.found.flatMap((found) => found.kin ?? []));
  const standing = await looked(relatives(kin, known).filter(({ path }) => !own.has(path)));
  if (standing.length === 0) return { rollouts: alone, ...listed };
  const rollouts = openRollouts([...changed, ...standing], place);
  return { rollouts, ...(await rollouts.list(signal)) };
}

/**
 * Without secrets, without what it repeats, with its author.
 * @param before what was seen of its file the last time.
 * @throws MemoryError where its file is gone or changed under our hands.
 */
export async function readyOf(
  one: Wanted,
  rollouts: Rollouts,
  before: Seen | undefined,
  { redactor, author }: Reading,
  signal?: AbortSignal,
): Promise<Ready> {
  const read = withoutKnownRepeats(await rollouts.read(one.found.thread.id, signal), before);
  const clean = redactRollout(read, redactor);
  const rollout = { ...clean, thread: { ...clean.thread, author } };
  return { ...one, rollout, bytes: Buffer.byteLength(writeRollout(rollout)) };
}

/** What it repeated when the others were still there is repeated now. */
function withoutKnownRepeats(rollout: Rollout, before: Seen | undefined): Rollout {
  const now = rollout.skipped.repeated ?? 0;
  const missing = (before?.repeated ?? 0) - now;
  if (missing <= 0) return rollout;
  const own = withoutRepeats(rollout, new Set(rollout.items.slice(0, missing).map(({ n }) => n)));
  return { ...own, skipped: { ...own.skipped, repeated: now + missing } };
}
