import { warnBytes } from '../../state/snapshot.ts';
import { aligned } from '../text.ts';
import { megabyte } from '../types.ts';
import type { Month } from './year.ts';

/** Growth of a repository while nights commit to it. */
export interface Packed {
  readonly from: number;
  readonly to: number;
  /** Bytes after the first and after the last of these nights. */
  readonly first: number;
  readonly last: number;
}

export interface Growth {
  readonly months: readonly Month[];
  /** null where there is no git program. */
  readonly packed: Packed | null;
}

/** Most that a month of nights may add to a packed repository. */
export const packedBound = 40 * megabyte;

export function growthText({ months, packed }: Growth): string {
  const rows = months.map(({ night, stateBytes, rows: count, outputs, selected }) => {
    return [`${night}`, `${mb(stateBytes)} MB`, `${count}`, `${outputs}`, `${selected}`];
  });
  return [
    ...aligned([['night', 'state', 'rows', 'outputs', 'selected'], ...rows]),
    '',
    `The state's bound is ${mb(warnBytes)} MB.`,
    ...(packed === null
      ? ['Git’s growth was not measured: the git program is not installed.']
      : [
          `Git, packed each week: ${mb(packed.first)} MB after night ${packed.from}, ${mb(packed.last)} MB after night ${packed.to}: ` +
            `${mb(monthly(packed))} MB in 30 nights (bound ${mb(packedBound)} MB), ${mb((monthly(packed) * 365) / 30)} MB a year.`,
        ]),
  ].join('\n');
}

/** What does not hold, as sentences without a full stop. */
export function growthFaults({ months, packed }: Growth): string[] {
  const most = Math.max(...months.map(({ stateBytes }) => stateBytes));
  return [
    ...(most >= warnBytes ? [`the state grew to ${mb(most)} MB, and ${mb(warnBytes)} MB is its bound`] : []),
    ...(packed !== null && monthly(packed) > packedBound
      ? [
          `a month of nights added ${mb(monthly(packed))} MB to the packed repository, and ${mb(packedBound)} MB is the bound`,
        ]
      : []),
  ];
}

/** Bytes in 30 nights. */
function monthly({ from, to, first, last }: Packed): number {
  return to === from ? 0 : ((last - first) / (to - from)) * 30;
}

function mb(bytes: number): string {
  return (bytes / megabyte).toFixed(1);
}
