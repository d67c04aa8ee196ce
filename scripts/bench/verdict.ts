import type { Limit, Measure, Point, Reading, Unit } from './types.ts';

/** What a measure came to, after all its attempts. */
export interface Result {
  readonly name: string;
  readonly what: string;
  readonly unit: Unit;
  /** The best attempt. */
  readonly value: number;
  readonly calibration: number | null;
  readonly ratio: number | null;
  readonly limit: Limit | null;
  readonly verdict: 'held' | 'missed' | 'reported';
  readonly attempts: number;
  readonly note: string;
  readonly faults: readonly string[];
  /** Of a measure of growth. */
  readonly points?: readonly Point[];
}

/** A miss is measured again, this often in all: other work on the machine is no fault of ours. */
export const attemptsAllowed = 3;

/** Measures until the limit holds or the attempts are spent, and takes the best. */
export async function judge(
  measure: Pick<Measure, 'name' | 'what' | 'unit' | 'limit'>,
  take: () => Promise<Reading>,
): Promise<Result> {
  const readings: Reading[] = [];
  for (;;) {
    readings.push(await take());
    const result = bestOf(measure, readings);
    if (result.verdict !== 'missed' || readings.length === attemptsAllowed) return result;
  }
}

/**
 * A rate's share of what `JSON.parse` does on this machine; a duration, or what one rollout takes, as the MB that
 * `JSON.parse` gets through meanwhile. So figures of different machines can be compared.
 */
export function ratioOf(unit: Unit, value: number, calibration: number | null): number | null {
  if (calibration === null) return null;
  switch (unit) {
    case 'MB/s':
      return value / calibration;
    case 'ms':
      return (value / 1000) * calibration;
    case 'rollouts/min':
      return (60 / value) * calibration;
    case 'MB':
    case 'exponent':
      return null;
  }
}

function bestOf(
  { name, what, unit, limit }: Pick<Measure, 'name' | 'what' | 'unit' | 'limit'>,
  readings: readonly Reading[],
): Result {
  const results = readings.map((reading): Result => {
    const ratio = ratioOf(unit, reading.value, reading.calibration);
    const isHeld = reading.faults.length === 0 && (limit === null || holds(limit, reading.value, ratio));
    return {
      name,
      what,
      unit,
      ...reading,
      ratio,
      limit,
      verdict: !isHeld ? 'missed' : limit === null ? 'reported' : 'held',
      attempts: readings.length,
    };
  });
  const [best] = results.sort((a, b) => rank(a) - rank(b) || distance(a) - distance(b));
  if (best === undefined) throw new RangeError('Nothing was measured.');
  return best;
}

function holds(limit: Limit, value: number, ratio: number | null): boolean {
  const measured = limit.on === 'value' ? value : ratio;
  if (measured === null) return false;
  return limit.bound === 'at least' ? measured >= limit.than : measured <= limit.than;
}

/** An attempt that lost something is never the best because it was fast. */
function rank({ faults, verdict }: Result): number {
  return faults.length > 0 ? 2 : verdict === 'missed' ? 1 : 0;
}

/** Smaller is better. */
function distance({ limit, value, ratio }: Result): number {
  const measured = (limit?.on === 'ratio' ? ratio : value) ?? 0;
  return limit?.bound === 'at least' ? -measured : measured;
}
