import type { Thread } from '../../rollout/types.ts';
import { withoutEvidence } from '../../shared/evidence.ts';
import { filesOf } from './bullets.ts';
import { baseName, type Task } from './tasks.ts';
import { cutToFit, linesOf, type Sentence, sentencesOf, shown } from './text.ts';

const maxDescription = 320;
// Fewer characters than this say little on their own.
const shortTitle = 24;

/** The person's first words on a task as one line; without any, the files that it changed. */
export function titleOf(task: Task, thread: Thread, max = 100): string {
  const sentences = sentencesOf(task.turns[0]?.message?.text ?? '', 4).map((sentence) => sentence.text);
  let title = '';
  for (const sentence of sentences) {
    if (title !== '' && title.length >= shortTitle && !/[:：]$/.test(title)) break;
    title = `${title} ${sentence}`.trim();
  }
  const files = filesOf(task.edits).map((file) => baseName(file.name));
  const words = title || files.slice(0, 3).join(', ') || thread.title;
  const { text, cut } = cutToFit(
    withoutEvidence(words)
      .replaceAll(/\s{1,40}/g, ' ')
      .trim(),
    max,
  );
  return shown(cut ? `${text} …` : text.replace(/[.。!！:：]{1,4}$/, ''));
}

/** `Fix the test: success, changed pricing/discount.py, verified with pytest -q`, task by task. */
export function inShort(tasks: readonly Task[], thread: Thread): string {
  const max = tasks.length > 1 ? 60 : 100;
  const lines = tasks.map((task) => {
    const files = filesOf(task.edits).map((file) => file.name);
    const more = files.length > 2 ? ` and ${files.length - 2} more` : '';
    const changed = files.length > 0 ? `, changed ${files.slice(0, 2).join(', ')}${more}` : '';
    const check = task.checks.findLast(({ simple }) => simple.kind !== null) ?? task.checks.at(-1);
    const isProof = task.outcome === 'success' && check && linesOf(check.simple.source).length === 1;
    const proof = isProof ? `, verified with ${cutToFit(check.simple.source, 60).text}` : '';
    return `${titleOf(task, thread, max)}: ${task.outcome}${changed}${proof}`;
  });
  const { text, cut } = cutToFit(lines.join('; '), maxDescription);
  return cut ? `${text} …` : text;
}

/** The first sentences that stand on one line, verbatim; a label before them, such as `Low`, is passed over. */
export function openingOf(text: string): string {
  const sentences = sentencesOf(text, 12);
  const first = sentences.slice(0, 2).find((sentence) => lineOf(text, sentence).length >= shortTitle) ?? sentences[0];
  if (!first) return '';
  let end = first.at + first.text.length;
  for (const sentence of sentences.slice(sentences.indexOf(first))) {
    const next = sentence.at + sentence.text.length;
    if (next - first.at > 240 || linesOf(text.slice(first.at, next)).length > 1) break;
    end = next;
  }
  return withoutEvidence(text.slice(first.at, end));
}

function lineOf(text: string, sentence: Sentence): string {
  return linesOf(text.slice(sentence.at, sentence.at + shortTitle + 1))[0] ?? '';
}
