import { commitText, markdownText, terminalText } from '../shared/escape.ts';
import type { Prepared } from './prepare.ts';
import type { Version } from './template.ts';

export interface Told {
  readonly from: string;
  readonly base: Version;
  readonly target: Version;
  readonly prepared: Prepared;
}

export function upgradeTitle({ target }: Told): string {
  return `Upgrade to ${commitText(target.name)}`;
}

/** What a reviewer has to know: how much is taken, and what is not. */
export function upgradeBody(told: Told): string {
  const { base, target, from } = told;
  const { plan, refused } = told.prepared;
  return `${[
    `Takes the template from ${code(base.name)} to ${code(target.name)} (${markdownText(from)}): ${countsOf(told)}.`,
    'The memory, its state, `.github/memory.yml` and `CODEOWNERS` are untouched. After merging: `npm ci`.',
    ...list('**Left as they are, because both sides changed them** (compare and merge them by hand):', plan.conflicts),
    ...list('**Left as they are, because they are links or submodules:**', refused),
    ...list('Kept, because only this repository changed them:', plan.kept),
  ].join('\n\n')}\n`;
}

/** The same for a terminal. */
export function upgradeText({ from, base, target, prepared }: Told, outcome: string): string {
  const { plan, refused } = prepared;
  return [
    `from      ${terminalText(from)}, ${terminalText(base.name)} → ${terminalText(target.name)}`,
    `takes     ${countsOf({ prepared })}`,
    ...plan.kept.map((path) => `kept      ${terminalText(path)}: only this repository changed it`),
    ...plan.conflicts.map((path) => `conflict  ${terminalText(path)}: changed here and there, left as it is`),
    ...refused.map((path) => `left      ${terminalText(path)}: a link or a submodule`),
    outcome,
  ].join('\n');
}

function countsOf({ prepared: { changes } }: Pick<Told, 'prepared'>): string {
  const removed = [...changes.values()].filter((content) => content === null).length;
  return `${changes.size - removed} files written, ${removed} removed`;
}

/** Files that are named; a body has a limit. */
const named = 200;

function list(title: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const more = paths.length > named ? [`- … and ${paths.length - named} more`] : [];
  return [[title, '', ...paths.slice(0, named).map((path) => `- ${code(path)}`), ...more].join('\n')];
}

function code(text: string): string {
  return `\`${terminalText(text).replaceAll('`', '\u02cb')}\``;
}
