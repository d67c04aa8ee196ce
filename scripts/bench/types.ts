import type { World } from '../shared/main.ts';

export type Unit = 'MB/s' | 'MB' | 'ms' | 'rollouts/min' | 'exponent';

/** `ratio` is the value over the calibration of the same run: only rates have one that a limit can name. */
export interface Limit {
  readonly on: 'value' | 'ratio';
  readonly bound: 'at least' | 'at most';
  readonly than: number;
}

export interface Measure {
  readonly name: string;
  readonly what: string;
  readonly unit: Unit;
  /** null is reported only. */
  readonly limit: Limit | null;
  /** Measures once, after a warm-up, in a process that did nothing else before. */
  take(bench: Bench): Promise<Reading>;
}

/** What a measure may use. */
export interface Bench {
  readonly world: World;
  /** Empty, its own, and removed afterwards. */
  readonly folder: string;
}

export interface Reading {
  /** In the measure's unit. */
  readonly value: number;
  /** MB/s of `JSON.parse` over the same or like lines in the same run; null where nothing is comparable. */
  readonly calibration: number | null;
  /** What was measured, in a few words. */
  readonly note: string;
  /** What did not hold besides the number, such as a lost rollout: any of them misses the measure. */
  readonly faults: readonly string[];
  /** How long each size took, where several were measured. */
  readonly points?: readonly Point[];
}

/** So much work, and the milliseconds that it took. */
export interface Point {
  readonly size: number;
  readonly ms: number;
}

/** 1 MB is 1,000,000 bytes. */
export const megabyte = 1_000_000;
