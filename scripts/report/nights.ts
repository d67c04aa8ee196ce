import { day, type EpochSeconds } from '../shared/clock.ts';
import type { State } from '../state/database.ts';
import { listRuns } from '../state/runs.ts';
import { listTombstones } from '../state/tombstones.ts';
import type { RunRow } from '../state/types.ts';

/** A night as its line in the ledger tells it. */
export interface Night {
  readonly runId: string;
  readonly at: EpochSeconds;
  readonly seconds: number;
  readonly outcome: RunRow['outcome'];
  /** Sessions that taught something. */
  readonly learned: number;
  /** Sessions that left the memory since nobody used them, and items that people had forgotten. */
  readonly forgotten: number;
  readonly failed: number;
  readonly input: number;
  readonly output: number;
  readonly usd: number;
  readonly models: string;
}

/** The nights of one day in UTC together. */
export interface NightsOfDay {
  /** Midnight. */
  readonly day: EpochSeconds;
  readonly learned: number;
  readonly forgotten: number;
  readonly input: number;
  readonly output: number;
  readonly usd: number;
}

/** Every night of the ledger, the latest first. */
export function nightsOf(state: State): Night[] {
  const byRun = new Map<string, number>();
  for (const { runId } of listTombstones(state)) if (runId !== null) byRun.set(runId, (byRun.get(runId) ?? 0) + 1);
  return listRuns(state, mostNights).map((run) => {
    const phases = Object.values(run.usage);
    const sum = (name: string) => phases.reduce((total, phase) => total + (phase[name] ?? 0), 0);
    return {
      runId: run.runId,
      at: run.startedAt,
      seconds: Math.max(0, run.finishedAt - run.startedAt),
      outcome: run.outcome,
      learned: run.counts.extracted ?? 0,
      forgotten: (run.counts.forgotten ?? 0) + (byRun.get(run.runId) ?? 0),
      failed: run.counts.failed ?? 0,
      input: sum('input'),
      output: sum('output'),
      usd: sum('micro_usd') / 1_000_000,
      models: run.models,
    };
  });
}

/** Every day from the first to the last night of the latest `days`, in order; days without a night have zeros. */
export function byDay(nights: readonly Night[], days: number): NightsOfDay[] {
  const last = midnight(nights[0]?.at ?? 0);
  const first = Math.max(midnight(nights.at(-1)?.at ?? 0), last - (days - 1) * day);
  const sums = new Map<EpochSeconds, NightsOfDay>();
  if (nights.length === 0) return [];
  for (let at = first; at <= last; at += day)
    sums.set(at, { day: at, learned: 0, forgotten: 0, input: 0, output: 0, usd: 0 });
  for (const night of nights) {
    const before = sums.get(midnight(night.at));
    if (before === undefined) continue;
    sums.set(before.day, {
      day: before.day,
      learned: before.learned + night.learned,
      forgotten: before.forgotten + night.forgotten,
      input: before.input + night.input,
      output: before.output + night.output,
      usd: before.usd + night.usd,
    });
  }
  return [...sums.values()];
}

/** A year and a half of nights. */
const mostNights = 550;

function midnight(at: EpochSeconds): EpochSeconds {
  return Math.floor(at / day) * day;
}
