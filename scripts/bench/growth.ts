import { medianMs } from './statistics.ts';
import type { Bench, Measure, Point, Unit } from './types.ts';

/** How often each size is measured: the smaller, the more. */
const rounds: Readonly<Record<number, number>> = { 1: 5, 10: 3, 100: 2 };

/** Work that should grow with its size and no faster. */
export interface Growing {
  readonly name: string;
  readonly what: string;
  /** Of what a size counts. */
  readonly of: string;
  /** The smallest size; ten and a hundred times as much are measured as well. */
  readonly base: number;
  /** Makes everything ready that does not count. @returns the work, which can be done again and again */
  prepare(bench: Bench, size: number): Promise<() => unknown>;
}

/** A measure of the exponent with which time grows: 1 is linear, 2 quadratic. */
export function growthMeasure({ name, what, of, base, prepare }: Growing): Measure {
  return {
    name,
    what: `how the time to ${what} grows with their number`,
    unit: 'exponent' satisfies Unit,
    limit: { on: 'value', bound: 'at most', than: 1.15 },
    async take(bench) {
      const points: Point[] = [];
      for (const [factor, times] of Object.entries(rounds)) {
        const size = base * Number(factor);
        points.push({ size, ms: await medianMs(bench.world, times, await prepare(bench, size)) });
      }
      const taken = points.map(({ size, ms }) => `${size} ${of} ${ms.toFixed(ms < 10 ? 1 : 0)} ms`);
      const note = `${taken.join(', ')}; the last step alone ${exponentOf(points.slice(-2)).toFixed(2)}`;
      return { value: exponentOf(points), calibration: null, note, faults: [], points };
    },
  };
}

/**
 * The slope of the line through the points' logarithms, by least squares: 1 where time grows with the size.
 * @throws RangeError for fewer than two sizes
 */
export function exponentOf(points: readonly Point[]): number {
  const logs = points.map(({ size, ms }) => ({ x: Math.log(size), y: Math.log(Math.max(ms, Number.MIN_VALUE)) }));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(logs.map((log) => log.x)), mean(logs.map((log) => log.y))];
  const spread = logs.reduce((sum, log) => sum + (log.x - x) ** 2, 0);
  if (!(spread > 0)) throw new RangeError('Growth takes two sizes at least.');
  return logs.reduce((sum, log) => sum + (log.x - x) * (log.y - y), 0) / spread;
}
