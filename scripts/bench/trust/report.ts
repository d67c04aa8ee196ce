import { aligned } from '../text.ts';
import { type FaultKind, faultKinds } from './faults.ts';
import { places, sumOf, type Trust } from './measure.ts';
import type { SecretFigures } from './secrets.ts';

/** A row a kind of fault, then the lines that nobody touched. */
export function trustText({ faults, untouched, missed, alarms }: Trust): string {
  const row = (kind: FaultKind) => [
    kind,
    ...places.map((place) => `${faults[kind][place].caught}/${faults[kind][place].planted}`),
    share(sumOf(Object.values(faults[kind]))),
  ];
  const all = sumOf(faultKinds.flatMap((kind) => Object.values(faults[kind])));
  const lines = Object.entries(untouched);
  const judged = lines.reduce((sum, [, one]) => sum + one.lines, 0);
  const wrong = lines.reduce((sum, [, one]) => sum + one.alarms, 0);
  return [
    ...aligned([
      ['planted fault', ...places, 'caught'],
      ...faultKinds.map(row),
      ['all', '', '', `${all.caught}/${all.planted}`, share(all)],
    ]),
    '',
    `untouched lines: ${wrong} of ${judged} taken for faults (${((wrong / Math.max(1, judged)) * 100).toFixed(2)} %)`,
    ...lines.map(([language, one]) => `  ${language}: ${one.alarms} of ${one.lines}`),
    ...(missed.length === 0 ? [] : ['', 'not caught:', ...missed.map((one) => `  ${one}`)]),
    ...(alarms.length === 0 ? [] : ['', 'false alarms:', ...alarms.map((one) => `  ${one}`)]),
  ].join('\n');
}

/** A row a family: found by our rules, by Codex's four patterns, by secretlint; then the harmless lines taken for one. */
export function secretsText({ families, harmless }: SecretFigures): string {
  return aligned([
    ['secrets', 'planted', 'ours', 'four patterns', 'secretlint'],
    ...families.map(({ family, planted, ours, codex, secretlint }) => [
      family,
      String(planted),
      String(ours),
      String(codex),
      String(secretlint),
    ]),
    [
      'harmless lines taken',
      String(harmless.planted),
      String(harmless.ours),
      String(harmless.codex),
      String(harmless.secretlint),
    ],
  ]).join('\n');
}

function share({ planted, caught }: { readonly planted: number; readonly caught: number }): string {
  return `${((caught / Math.max(1, planted)) * 100).toFixed(1)} %`;
}
