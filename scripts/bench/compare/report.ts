import { aligned, shown } from '../text.ts';
import type { Comparison } from './comparison.ts';

/** A row a figure: ours, theirs, how many times as much theirs is, what was promised, the verdict. */
export function comparisonText({ other, corpus, rounds, rows }: Comparison): string {
  return [
    ...aligned([
      ['figure', 'ours', 'theirs', 'theirs / ours', 'limit', 'verdict'],
      ...rows.map(({ name, unit, ours, theirs, ratio, atLeast, verdict }) => [
        name,
        `${shown(ours)} ${unit}`,
        `${shown(theirs)} ${unit}`,
        `${shown(ratio)} ×`,
        atLeast === null ? '' : `≥ ${atLeast} ×`,
        verdict === 'reported' ? '' : verdict,
      ]),
    ]),
    '',
    `beside ${other}, in turn, ${rounds} rounds each: ${corpus}.`,
  ].join('\n');
}
