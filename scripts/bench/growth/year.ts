import { day } from '../../shared/clock.ts';
import { shortThreadId } from '../../shared/thread-id.ts';
import type { State } from '../../state/database.ts';
import { recordRun } from '../../state/runs.ts';
import { recordShown } from '../../state/shown.ts';
import { emptyState, snapshotOf } from '../../state/snapshot.ts';
import {
  type Chosen,
  type Cited,
  pruneNight,
  recordCited,
  recordSession,
  runIdOf,
  selectAll,
  type Taught,
} from '../load/books.ts';
import { type DaySession, type Load, nightAt, personName, sessionsOfDay } from '../load/days.ts';
import { seeded } from '../statistics.ts';

export interface Year {
  readonly load: Load;
  readonly nights: number;
  readonly citationsADay: number;
  readonly taught: (session: DaySession) => Taught | null;
}

/** The books after a night. */
export interface NightBooks {
  readonly night: number;
  readonly state: State;
  readonly chosen: readonly Chosen[];
  readonly sessions: number;
}

export interface Month {
  readonly night: number;
  readonly stateBytes: number;
  readonly rows: number;
  readonly outputs: number;
  readonly selected: number;
}

/** Memories that a session is given. */
const givenEach = 20;

/** Plays so many nights of books: what sessions taught, were given and cited; prune; selection; the ledger. */
export async function playYear(
  { load, nights, citationsADay, taught }: Year,
  after: (books: NightBooks) => Promise<void>,
): Promise<void> {
  const state = await emptyState();
  const memory = new Map<string, readonly string[]>();
  for (let night = 1; night <= nights; night += 1) {
    const now = nightAt(night);
    const sessions = sessionsOfDay(load, night);
    const chosen = state.transaction(() => {
      const citations = recordCited(state, citedOf(memory, load, citationsADay, night), now);
      recordShown(
        state,
        sessions.map((session) => shownTo(session, memory)),
      );
      pruneNight(state, now);
      for (const session of sessions) recordSession(state, session, taught(session), now);
      const selected = selectAll(state, now);
      noteRun(state, now, sessions.length, citations);
      return selected;
    });
    for (const { scope, chosen: outputs } of chosen)
      memory.set(
        scope,
        outputs.map(({ threadId }) => threadId),
      );
    await after({ night, state, chosen, sessions: sessions.length });
  }
  state.close();
}

/** What the state holds, as the bytes that every night writes. */
export function monthOf({ night, state, chosen }: NightBooks): Month {
  const text = snapshotOf(state);
  return {
    night,
    stateBytes: Buffer.byteLength(text),
    rows: text.split('\n').filter((line) => line.startsWith('[')).length,
    outputs: Number(state.first('select count(*) as n from stage1_outputs')?.n ?? 0),
    selected: chosen.reduce((sum, { chosen: outputs }) => sum + outputs.length, 0),
  };
}

function citedOf(memory: ReadonlyMap<string, readonly string[]>, load: Load, count: number, night: number): Cited[] {
  const ids = [...memory.values()].flat();
  const draw = seeded(night * 15_485_863);
  return ids.length === 0
    ? []
    : Array.from({ length: count }, (_, index): Cited => {
        const cited = ids[Math.floor(draw() ** 2 * ids.length)] ?? '';
        const author = personName(Math.floor(draw() * load.people));
        return { cited, citing: `citing ${night} ${index}`, author, at: nightAt(night) - Math.floor(draw() * day) };
      });
}

function shownTo({ threadId, author, repo, at }: DaySession, memory: ReadonlyMap<string, readonly string[]>) {
  const injected = (memory.get(repo) ?? []).slice(0, givenEach).map(shortThreadId).sort();
  return { threadId, author, at, injected, retrieved: injected.slice(0, 2), read: injected.slice(0, 1) };
}

function noteRun(state: State, now: number, found: number, citations: number): void {
  const usage = { requests: found, input: 25_000 * found, cached: 0, output: 900 * found, micro_usd: 9_000 * found };
  recordRun(state, {
    runId: runIdOf(now),
    startedAt: now,
    finishedAt: now + 900,
    outcome: 'done',
    counts: { found, citations, extracted: found, nothing: 0, failed: 0, left: 0, scopes_consolidated: 40 },
    usage: { phase1: usage, phase2: usage },
    models: 'extract consolidate',
    promptsHash: '0123456789abcdef 0123456789abcdef',
  });
}
