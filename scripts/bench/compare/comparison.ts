import { median } from '../statistics.ts';
import { megabyte } from '../types.ts';
import type { Figures } from './figures.ts';
import type { Taken } from './program.ts';

/** Both programs, once each, one after the other. */
export interface Round<T> {
  readonly ours: T;
  readonly theirs: T;
}

/** What one figure came to. */
export interface ComparedRow {
  readonly name: string;
  readonly unit: 'ms' | 's' | 'MB';
  readonly ours: number;
  readonly theirs: number;
  /** How many times as much the other takes. */
  readonly ratio: number;
  /** The ratio that was promised; null where none was. */
  readonly atLeast: number | null;
  readonly verdict: 'held' | 'missed' | 'reported';
}

export interface Comparison {
  /** `Codex 0.171.0`, or the command. */
  readonly other: string;
  /** What both were given. */
  readonly corpus: string;
  readonly rounds: number;
  readonly rows: readonly ComparedRow[];
}

/** @param isPromised whether the corpus is the one that the promises are about */
export function codexRows(rounds: readonly Round<Figures>[], isPromised: boolean): ComparedRow[] {
  const limit = (than: number) => (isPromised ? than : null);
  const outputs = median(rounds.map(({ ours }) => ours.rollouts));
  return [
    rowOf(
      rounds,
      'phase 1, processor time a rollout',
      'ms',
      limit(5),
      ({ phase1CpuMs, rollouts }) => phase1CpuMs / rollouts,
    ),
    rowOf(
      rounds,
      'the same with the start of the program',
      'ms',
      null,
      ({ wholeCpuMs, rollouts }) => wholeCpuMs / rollouts,
    ),
    rowOf(rounds, `phase 2, preparation at ${outputs} outputs`, 'ms', limit(5), ({ preparationMs }) => preparationMs),
    rowOf(rounds, 'peak memory', 'MB', limit(1), ({ peakBytes }) => peakBytes / megabyte),
  ];
}

export function programRows(rounds: readonly Round<Taken>[]): ComparedRow[] {
  return [
    rowOf(rounds, 'processor time', 's', null, ({ cpuMs }) => cpuMs / 1_000),
    rowOf(rounds, 'elapsed time', 's', null, ({ wallMs }) => wallMs / 1_000),
    rowOf(rounds, 'peak memory', 'MB', null, ({ peakBytes }) => peakBytes / megabyte),
  ];
}

export function isMissed(rows: readonly ComparedRow[]): boolean {
  return rows.some(({ verdict }) => verdict === 'missed');
}

/** Of each program the median of its rounds. */
function rowOf<T>(
  rounds: readonly Round<T>[],
  name: string,
  unit: ComparedRow['unit'],
  atLeast: number | null,
  figure: (taken: T) => number,
): ComparedRow {
  const ours = median(rounds.map((round) => figure(round.ours)));
  const theirs = median(rounds.map((round) => figure(round.theirs)));
  const ratio = theirs / ours;
  const verdict = atLeast === null ? 'reported' : ratio >= atLeast ? 'held' : 'missed';
  return { name, unit, ours, theirs, ratio, atLeast, verdict };
}
