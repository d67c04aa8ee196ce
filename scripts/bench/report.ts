import { aligned, shown } from './text.ts';
import { attemptsAllowed, type Result } from './verdict.ts';

/** A row a measure: name, value, what that is of `JSON.parse` on this machine, limit, verdict. */
export function table(results: readonly Result[]): string {
  const rows = [
    ['measure', 'value', 'of JSON.parse', 'limit', 'verdict', 'what'],
    ...results.map((result) => [
      result.name,
      result.unit === 'exponent' ? result.value.toFixed(2) : `${shown(result.value)} ${result.unit}`,
      ratioText(result),
      limitText(result),
      result.verdict === 'reported' ? '' : result.verdict,
      `${result.what}${result.note === '' ? '' : `: ${result.note}`}`,
    ]),
  ];
  return [
    ...aligned(rows),
    '',
    'of JSON.parse: a rate as its share (×) of what JSON.parse does with like lines in the same run;',
    'a duration, or the time of one rollout, as the MB that JSON.parse gets through meanwhile.',
    ...results.flatMap(({ name, faults }) => faults.map((fault) => `${name}: ${fault}.`)),
    ...results
      .filter(({ attempts }) => attempts > 1)
      .map(
        ({ name, attempts }) =>
          `${name}: missed at first; the best of ${attempts} attempts, ${attemptsAllowed} allowed.`,
      ),
  ].join('\n');
}

function ratioText({ unit, ratio }: Result): string {
  if (ratio === null) return '';
  return `${shown(ratio)} ${unit === 'MB/s' ? '×' : 'MB'}`;
}

function limitText({ limit, unit }: Result): string {
  if (limit === null) return '';
  return `${limit.bound === 'at least' ? '≥' : '≤'} ${limit.than}${limit.on === 'ratio' ? ' ×' : unit === 'exponent' ? '' : ` ${unit}`}`;
}
