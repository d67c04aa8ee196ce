import { aligned } from '../text.ts';
import type { Forgetting, Outcome } from './measure.ts';

/** Outputs of which this share at least is consolidated once. */
const leastConsolidated = 0.9;

export function forgettingText(measured: readonly Forgetting[]): string {
  const rows = measured.flatMap(({ citationsADay, ours, codex }) => [
    [`${citationsADay}`, 'ours', ...cells(ours)],
    ['', 'Codex’s order', ...cells(codex)],
  ]);
  const [first] = measured;
  return [
    `${first?.outputs ?? 0} outputs; nights in the memory are medians of those whose time is over.`,
    '',
    ...aligned([
      [
        'citations a day',
        'selection',
        'ever consolidated',
        'nights without new',
        'cited',
        'never cited',
        'popular',
        'rare',
      ],
      ...rows,
    ]),
  ].join('\n');
}

/** What does not hold of our selection, as sentences without a full stop. */
export function forgettingFaults(measured: readonly Forgetting[]): string[] {
  return measured.flatMap(({ citationsADay, ours }) => {
    const at = `at ${citationsADay} citations a day`;
    const { nightsCited, nightsUncited, nightsPopular, nightsRare } = ours;
    return [
      ...(ours.consolidated < leastConsolidated
        ? [`${at} only ${percent(ours.consolidated)} of the outputs were ever consolidated`]
        : []),
      ...(ours.nightsWithoutNew > 0 ? [`${at} nothing new came in on ${ours.nightsWithoutNew} nights`] : []),
      ...(ours.scopesWithoutNew > 0
        ? [`${at} something waited ${ours.scopesWithoutNew} times and nothing came in`]
        : []),
      ...(ours.leftTooEarly > 0
        ? [`${at} ${ours.leftTooEarly} outputs left before their age while slots were free`]
        : []),
      ...(ours.leftByWrongRank > 0
        ? [`${at} ${ours.leftByWrongRank} outputs left for others that were cited less`]
        : []),
      ...(citationsADay > 0 && !((nightsCited ?? 0) > (nightsUncited ?? 0))
        ? [`${at} what is cited lives ${nightsCited} nights, what is not ${nightsUncited}`]
        : []),
      ...(citationsADay > 0 && !((nightsPopular ?? 0) >= (nightsRare ?? 0))
        ? [`${at} what everybody needs lives ${nightsPopular} nights, the rest ${nightsRare}`]
        : []),
    ];
  });
}

function cells({ consolidated, nightsWithoutNew, ...nights }: Outcome): string[] {
  const { nightsCited, nightsUncited, nightsPopular, nightsRare } = nights;
  const shown = [nightsCited, nightsUncited, nightsPopular, nightsRare].map((one) => (one === null ? '–' : `${one}`));
  return [percent(consolidated), `${nightsWithoutNew}`, ...shown];
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
