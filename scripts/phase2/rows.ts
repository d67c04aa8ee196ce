import { citedItems, formatItems, type ItemNumber } from '../shared/evidence.ts';
import type { OutputView } from '../state/types.ts';
import type { InputRow } from '../workspace/inputs.ts';
import { rolloutPath } from '../workspace/layout.ts';

/**
 * What a selected output gives to the files that consolidation reads. Bullets that rest on tombstoned items alone are
 * left out, tombstoned numbers beside others too: what was forgotten never reaches a consolidator again.
 * @returns null for an output of which nothing with evidence is left.
 * @param isHidden whether an item of the thread is tombstoned in the thread's scope; left out where none is.
 */
export function inputRow(
  output: OutputView,
  isHidden?: (n: ItemNumber) => boolean,
  isPersons?: (n: ItemNumber) => boolean,
): InputRow | null {
  const { thread } = output;
  const shown = (text: string) => (isHidden === undefined ? text : withoutHidden(text, isHidden, isPersons));
  const [rawMemory, rolloutSummary] = [shown(output.rawMemory), shown(output.rolloutSummary)];
  const isForgotten = rawMemory !== output.rawMemory || rolloutSummary !== output.rolloutSummary;
  if (isForgotten && !hasEvidence(rawMemory) && !hasEvidence(rolloutSummary)) return null;
  return {
    threadId: output.threadId,
    repo: thread.repo,
    cwd: thread.cwd,
    branch: thread.branch,
    updatedAt: output.sourceUpdatedAt,
    startedAt: thread.startedAt,
    rolloutPath: rolloutPath(output.threadId, thread.startedAt),
    stem: output.stem,
    rawMemory,
    rolloutSummary,
  };
}

/**
 * The text without the lines that rest on hidden items alone, and without hidden numbers beside others. A line whose
 * every person's item is hidden goes too: what they said is what it says, whatever ran after it.
 */
export function withoutHidden(
  text: string,
  isHidden: (n: ItemNumber) => boolean,
  isPersons: (n: ItemNumber) => boolean = () => false,
): string {
  const names = (mark: RegExpMatchArray) => (mark[1] ?? '').split(',').some((n) => isHidden(n.trim()));
  if (![...text.matchAll(/\(@([\d:., ]{1,2000})\)/g)].some(names)) return text;
  return text
    .split('\n')
    .flatMap((line) => {
      const marks = [...line.matchAll(/\(@([\d:., ]{1,2000})\)/g)];
      const kept = marks.map((mark) =>
        (mark[1] ?? '')
          .split(',')
          .map((n) => n.trim())
          .filter((n) => !isHidden(n)),
      );
      if (marks.length === 0) return [line];
      if (kept.every((numbers) => numbers.length === 0)) return [];
      if (losesItsPerson(line, kept.flat(), isPersons)) return [];
      return [
        marks.reduce(
          (shown, mark, index) => shown.replace(mark[0], kept[index]?.length ? formatItems(kept[index]) : ''),
          line,
        ),
      ];
    })
    .join('\n');
}

function losesItsPerson(line: string, kept: readonly ItemNumber[], isPersons: (n: ItemNumber) => boolean): boolean {
  return citedItems(line).some(isPersons) && !kept.some(isPersons);
}

function hasEvidence(text: string): boolean {
  return citedItems(text).length > 0;
}
