import type { DaySession } from '../load/days.ts';
import { median } from '../statistics.ts';

/** How long an output was in the memory. Nights count from 1. */
export interface Life {
  readonly made: number;
  readonly isPopular: boolean;
  nights: number;
  cited: number;
}

/** Of every output that was ever made, by thread. */
export type Lives = Map<string, Life>;

/** One in ten sessions teaches what everybody needs. */
export function isPopular({ lot }: DaySession): boolean {
  return lot < 0.1;
}

export interface LifeFigures {
  /** Share of the outputs whose chance is over, or that got it. */
  readonly consolidated: number;
  /** Median nights in the memory of those that were there and can be judged: cited ever, never cited. */
  readonly nightsCited: number | null;
  readonly nightsUncited: number | null;
  readonly nightsPopular: number | null;
  readonly nightsRare: number | null;
}

/**
 * @param until what was made up to this night is judged: it had time to live longer.
 * @param chance what was made up to this night had its chance.
 */
export function lifeFigures(lives: Lives, chance: number, until: number): LifeFigures {
  const had = [...lives.values()].filter(({ made, nights }) => made <= chance || nights > 0);
  const judged = [...lives.values()].filter(({ made, nights }) => made <= until && nights > 0);
  const nightsOf = (wanted: (life: Life) => boolean) => {
    const nights = judged.filter(wanted).map((life) => life.nights);
    return nights.length === 0 ? null : median(nights);
  };
  return {
    consolidated: had.filter(({ nights }) => nights > 0).length / Math.max(1, had.length),
    nightsCited: nightsOf(({ cited }) => cited > 0),
    nightsUncited: nightsOf(({ cited }) => cited === 0),
    nightsPopular: nightsOf((life) => life.isPopular),
    nightsRare: nightsOf((life) => !life.isPopular),
  };
}

/** @param ids of the outputs that are in the memory tonight. */
export function livedTonight(lives: Lives, ids: Iterable<string>): void {
  for (const id of ids) {
    const life = lives.get(id);
    if (life !== undefined) life.nights += 1;
  }
}
