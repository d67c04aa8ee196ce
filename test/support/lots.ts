/** Seeded: the same seed gives the same draws. */
export interface Lots {
  below(count: number): number;
  of<T>(list: readonly [T, ...T[]]): T;
  /** True in so many of a hundred cases. */
  percent(chance: number): boolean;
}

export function lotsFrom(seed: number): Lots {
  let state = (Math.imul(seed, 2_654_435_761) + 12_345) >>> 0;
  const below = (count: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  return { below, of: (list) => list[below(list.length)] ?? list[0], percent: (chance) => below(100) < chance };
}

/** Words that no dictionary has, so that no two lines of them look alike. */
export function someWords(lots: Lots, count: number): string {
  const syllable = () =>
    `${lots.of(['b', 'd', 'f', 'g', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v', 'z'])}${lots.of(['a', 'e', 'i', 'o', 'u'])}`;
  return Array.from({ length: count }, () => `${syllable()}${syllable()}${syllable()}`).join(' ');
}
