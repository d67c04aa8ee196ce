/** Seeded draws: the same seed gives the same faults on every machine. */
export interface Lots {
  below(count: number): number;
  of<T>(list: readonly T[]): T;
}

export function lotsFrom(seed: number): Lots {
  let state = (Math.imul(seed, 2_654_435_761) + 12_345) >>> 0;
  const below = (count: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  return {
    below,
    of: (list) => {
      const chosen = list[below(list.length)];
      if (chosen === undefined) throw new RangeError('Nothing to draw from.');
      return chosen;
    },
  };
}
