import { messageOf } from '../shared/errors.ts';
import { once } from '../shared/once.ts';
import type { RolloutCache } from './cache.ts';
import type { Checkouts } from './checkouts.ts';
import { hashed, kinOf, type Outline, outlineOf } from './forks.ts';
import type { Kept, Look } from './kept.ts';
import { type Facts, packed, type SessionRow, unpacked } from './kept-row.ts';
import { optsOut, usedOutside } from './opt-out.ts';
import type { Reader } from './reader.ts';
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
  /** Made when it is asked for: sealing costs more than it seems, and a listing may keep nothing. */
  row(): SessionRow;
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
    if (row !== null && ('ignored' in row || row.checkout === (await checkoutOf(cwdIn(row, path), place.checkouts)))) {
      kept.keep(look);
      if ('ignored' in row) return { path, reason: row.ignored };
      const outline = {
        id: row.facts.thread.id,
        agent: reader.agent,
        parents: row.parents,
        items: unpacked(row.items),
      };
      return listedFrom(row, outline, { look, path, reader, row: () => row });
    }
    const reading = await reader.read(path, { home: place.home, ...(signal === undefined ? {} : { signal }) });
    if (reading.outcome === 'ignored') {
      const reason = { ignored: reading.reason };
      kept.keep(look, () => reason);
      return { path, reason: reading.reason };
    }
    const whole = await rolloutOf(reading.session, place);
    const rollout = place.clean.rollout(whole);
    rollouts.add(path, rollout);
    const about = said(optsOut(whole.items, place.optOutWord), usedOutside(whole.items));
    const { cwd, source } = reading.session;
    const facts = { ...factsOf(rollout), ...about };
    const fresh = { facts, bytes: source.bytes, sha256: source.sha256 };
    const outline = outlineOf(reading.session, facts.thread.id);
    const made = rowOf(fresh, outline, cwd, path, await checkoutOf(cwd, place.checkouts));
    kept.keep(look, made);
    return listedFrom(fresh, outline, { look, path, reader, row: made });
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

function rowOf(
  known: Pick<SessionRow, 'facts' | 'bytes' | 'sha256'>,
  { parents, items }: Outline,
  cwd: string | null,
  path: string,
  checkout: string,
): () => SessionRow {
  return once(() => ({
    ...known,
    parents,
    items: packed(items),
    cwd: cwd === null ? null : sealed(cwd, path),
    checkout,
  }));
}

function cwdIn({ cwd }: SessionRow, path: string): string | null {
  return cwd === null ? null : unsealed(cwd, path);
}

/** A hash of the repository that the session's folder belongs to now. */
async function checkoutOf(cwd: string | null, checkouts: Checkouts): Promise<string> {
  return hashed(JSON.stringify(cwd === null ? null : await checkouts.of(cwd)));
}

function listedFrom(
  { facts, bytes, sha256 }: Pick<SessionRow, 'facts' | 'bytes' | 'sha256'>,
  outline: Outline,
  { look, path, reader, row }: Pick<Listed, 'look' | 'reader' | 'row'> & { readonly path: string },
): Listed {
  return { found: { ...facts, path, kin: kinOf(outline) }, reader, outline, bytes, sha256, look, row };
}
