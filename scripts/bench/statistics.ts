import { stopwatch } from '../shared/clock.ts';
import type { World } from '../shared/main.ts';
import { megabyte } from './types.ts';

/** The middle value; of an even number the mean of the two in the middle. @throws RangeError for none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[Math.floor(sorted.length / 2)]];
  if (low === undefined || high === undefined) throw new RangeError('There is no median of nothing.');
  return (low + high) / 2;
}

/** Tells processor time, in milliseconds. */
export type Processor = Pick<World, 'cpuTime'>;

/**
 * Milliseconds that the work takes: the median of `rounds` after one that does not count. Of each round the smaller of
 * elapsed and processor time, since neither is less than what work without waiting takes on a machine of its own: other
 * work makes the first longer, helper threads the second.
 */
export async function medianMs(processor: Processor, rounds: number, work: () => unknown): Promise<number> {
  const taken: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const elapsed = stopwatch();
    const before = processor.cpuTime();
    await work();
    const ms = Math.min(elapsed(), processor.cpuTime() - before);
    if (round > 0) taken.push(ms);
  }
  return median(taken);
}

/** MB/s of `JSON.parse` over these texts, decoded already: the median of five rounds after a warm-up. */
export async function parseSpeed(processor: Processor, texts: readonly string[]): Promise<number> {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const repeats = Math.max(1, Math.ceil((8 * megabyte) / Math.max(1, bytes)));
  const ms = await medianMs(processor, 5, () => {
    for (let repeat = 0; repeat < repeats; repeat += 1) for (const text of texts) JSON.parse(text);
  });
  return rate(repeats * bytes, ms);
}

/** MB/s */
export function rate(bytes: number, ms: number): number {
  return bytes / megabyte / (ms / 1000);
}

/**
 * A sequence of numbers in [0, 1) that depends on the seed alone (mulberry32).
 * @param seed a whole number
 */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
