import { messageOf } from '../shared/errors.ts';
import type { RolloutCache } from './cache.ts';
import type { Checkouts } from './checkouts.ts';
import { hashed, kinOf, type Outline, outlineOf } from './forks.ts';
import type { Kept, Look } from './kept.ts';
import { type Facts, packed, type SessionRow, unpacked } from './kept-row.ts';
import { optsOut, usedOutside } from './opt-out.ts';
import type { Reader, Session } from './reader.ts';
import { sealed, unsealed } from './seal.ts';
import type { Clean, Found } from './source.ts';
import { type Place, rolloutOf } from './thread.ts';
import type { Rollout } from './types.ts';
import type { Ignored } from './walk.ts';

export type ReadingPlace = Place & { readonly clean: Clean };

export interface Entry {
  readonly found: Found;
  readonly reader: Reader;
  readonly bytes: number;
  readonly sha256: string;
}

/** As it is listed: of it only what `read` needs is held on. */
export interface Listed extends Entry {
  readonly outline: Outline;
  readonly look: Look;
  readonly row: SessionRow;
}

/** A session as it was kept, where nothing changed that it depends on; else as its file says now. */
export async function entryOf(
  path: string,
  reader: Reader,
  place: ReadingPlace,
  rollouts: RolloutCache,
  kept: Kept,
  signal?: AbortSignal,
): Promise<Listed | Ignored> {
  try {
    const look = await kept.look(path, reader);
    const { row } = look;
    if (row !== null && ('ignored' in row || row.checkout === (await checkoutOf(row, path, place.checkouts)))) {
      kept.keep(look);
      return 'ignored' in row ? { path, reason: row.ignored } : listedFrom(row, look, path, reader);
    }
    const reading = await reader.read(path, { home: place.home, ...(signal === undefined ? {} : { signal }) });
    if (reading.outcome === 'ignored') {
      kept.keep(look, { ignored: reading.reason });
      return { path, reason: reading.reason };
    }
    const whole = await rolloutOf(reading.session, place);
    const rollout = place.clean.rollout(whole);
    rollouts.add(path, rollout);
    const about = said(optsOut(whole.items, place.optOutWord), usedOutside(whole.items));
    const fresh = await rowOf(reading.session, { ...factsOf(rollout), ...about }, path, place.checkouts);
    kept.keep(look, fresh);
    return listedFrom(fresh, look, path, reader);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Error && 'code' in error) return { path, reason: `unreadable: ${messageOf(error)}` };
    throw error;
  }
}

/** What is so; the rest is left out. */
export function said(isOut: boolean, isOutside: boolean): Pick<Found, 'optsOut' | 'usedOutside'> {
  return { ...(isOut ? { optsOut: true } : {}), ...(isOutside ? { usedOutside: true } : {}) };
}

export function factsOf(rollout: Rollout): Facts {
  const human = rollout.items.filter((item) => item.who === 'human');
  return {
    thread: rollout.thread,
    items: rollout.items.length,
    humanItems: human.length,
    skipped: rollout.skipped,
    ...(rollout.memory === undefined ? {} : { memory: rollout.memory }),
  };
}

async function rowOf(session: Session, facts: Facts, path: string, checkouts: Checkouts): Promise<SessionRow> {
  const { parents, items } = outlineOf(session, facts.thread.id);
  const { bytes, sha256 } = session.source;
  const cwd = session.cwd === null ? null : sealed(session.cwd, path);
  const checkout = await checkoutOf({ cwd }, path, checkouts);
  return { facts, bytes, sha256, parents, items: packed(items), cwd, checkout };
}

/** A hash of the repository that the session's folder belongs to now. */
async function checkoutOf({ cwd }: Pick<SessionRow, 'cwd'>, path: string, checkouts: Checkouts): Promise<string> {
  return hashed(JSON.stringify(cwd === null ? null : await checkouts.of(unsealed(cwd, path))));
}

function listedFrom(row: SessionRow, look: Look, path: string, reader: Reader): Listed {
  const { facts, bytes, sha256, parents } = row;
  const outline = { id: facts.thread.id, agent: reader.agent, parents, items: unpacked(row.items) };
  return { found: { ...facts, path, kin: kinOf(outline) }, reader, outline, bytes, sha256, look, row };
}
