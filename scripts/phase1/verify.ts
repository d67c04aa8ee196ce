import type { Item, Thread } from '../rollout/types.ts';
import { sessionOfItems } from '../workspace/said.ts';
import { bulletChecker, type CheckBullet, excerpt, type Field } from './bullet.ts';
import { fitLines } from './fit.ts';
import { outcomes, readHead } from './head.ts';
import { stage1Limits } from './limits.ts';
import { type Line, outline, textOfLines } from './outline.ts';
import type { Stage1Text } from './types.ts';

/** Whom a memory is for. `team`: what is one person's own taste is never stored. */
export type Audience = 'team' | 'person';

export interface Verified {
  /** As it may be stored: what does not hold is marked `(unverified)` or gone. */
  readonly text: Stage1Text;
  /** What is wrong with the text that was given, as sentences for the model. */
  readonly problems: readonly string[];
  /** Bullets that are marked. */
  readonly unverified: number;
  /** Bullets of the raw memory that had to go. */
  readonly dropped: number;
  /** Bullets of the raw memory that are left. */
  readonly kept: number;
}

/**
 * Compares a stage-1 text with the rollout. Every bullet must end in items that exist, a preference in one of a human,
 * and the items must bear it out (`judgeLine`): quotations, commands, whose words they are, what the person held back.
 * What they do not bear out is marked; a preference without a human, a bullet of the raw memory without evidence and a
 * rule that a tool's text made are dropped.
 * @param shown the items that the model saw: no others can be cited
 */
export function verifyText(
  text: Stage1Text,
  shown: readonly Item[],
  { thread, audience }: { readonly thread: Thread; readonly audience: Audience },
): Verified {
  const check = bulletChecker(sessionOfItems(shown));
  const head = readHead(text.rawMemory, thread);
  const raw = checkLines(outline(head.body), 'raw_memory', check, audience);
  const summary = checkLines(outline(text.rolloutSummary), 'rollout_summary', check, audience);
  const rawLines = withTask(raw.lines, head.head);
  const rawMemory = `${head.head}\n\n${fitLines(rawLines, stage1Limits.rawMemoryBytes - Buffer.byteLength(head.head) - 2)}`;
  const rolloutSummary = fitLines(summary.lines, stage1Limits.rolloutSummaryBytes);
  return {
    text: { rolloutSummary, rolloutSlug: text.rolloutSlug, rawMemory },
    problems: [
      ...head.problems,
      ...raw.problems,
      ...summary.problems,
      ...tooLong('raw_memory', `${head.head}\n\n${textOfLines(rawLines)}`, stage1Limits.rawMemoryBytes),
      ...tooLong('rollout_summary', textOfLines(summary.lines), stage1Limits.rolloutSummaryBytes),
    ].slice(0, mostProblems),
    unverified: raw.unverified + summary.unverified,
    dropped: raw.dropped,
    kept: outline(rawMemory).filter((line) => line.kind === 'bullet').length,
  };
}

/** Of an answer and its correction the one of which less has to be marked or dropped. */
export function betterOf(first: Verified, corrected: Verified): Verified {
  const faults = ({ dropped, unverified, problems }: Verified) => dropped + unverified + problems.length;
  if (corrected.kept === 0 && first.kept > 0) return first;
  return faults(corrected) <= faults(first) ? corrected : first;
}

/** A repair request names no more than this: what is left is marked or dropped anyway. */
const mostProblems = 30;

interface Checked {
  readonly lines: readonly Line[];
  readonly problems: readonly string[];
  readonly unverified: number;
  readonly dropped: number;
}

function checkLines(lines: readonly Line[], field: Field, check: CheckBullet, audience: Audience): Checked {
  const problems: string[] = [];
  let unverified = 0;
  let dropped = 0;
  const kept = lines.flatMap((line): Line[] => {
    if (line.section === 'personal' && audience === 'team') return [];
    if (line.kind === 'title' && field === 'raw_memory') return [{ ...line, text: line.text.replace(/^#+/, '###') }];
    if (line.kind === 'field') return [checkField(line, field, problems)];
    if (line.kind === 'label' && line.section === 'preferences')
      problems.push(`${field}: a heading of preference signals says neither (project) nor (personal).`);
    if (line.kind === 'words') return field === 'raw_memory' ? [] : [line];
    if (line.kind !== 'bullet') return [line];
    const bullet = check(line, field);
    problems.push(...bullet.problems);
    if (bullet.text === null) dropped += 1;
    else if (bullet.isUnverified) unverified += 1;
    return bullet.text === null ? [] : [{ ...line, text: bullet.text }];
  });
  return { lines: kept, problems, unverified, dropped };
}

function checkField(line: Line, field: Field, problems: string[]): Line {
  const [, name = '', value = ''] = /^(task_outcome|outcome):\s*(.*)$/i.exec(line.text) ?? [];
  if (name === '') return line;
  const word =
    value
      .toLowerCase()
      .replace(/[*_`.\s]+/g, ' ')
      .trim()
      .split(' ')[0] ?? '';
  if (outcomes.includes(word)) return { ...line, text: `${name}: ${word}` };
  problems.push(`${field}: "${excerpt(line.text)}" is none of ${outcomes.join(', ')}.`);
  return { ...line, text: `${name}: uncertain` };
}

/** A raw memory has at least one task block, since that is what the next stage reads. */
function withTask(lines: readonly Line[], head: string): readonly Line[] {
  if (lines.some((line) => line.kind === 'title' && /^### Task \d/.test(line.text))) return lines;
  const task = /^task: (.*)$/m.exec(head)?.[1] ?? 'the session';
  const rest = lines.filter((line) => line.kind !== 'title');
  return [{ kind: 'title', text: `### Task 1: ${task}`, section: 'none' }, ...rest];
}

function tooLong(field: Field, text: string, limit: number): string[] {
  const bytes = Buffer.byteLength(text);
  if (bytes <= limit) return [];
  return [`${field}: ${bytes} bytes where ${limit} are allowed. Leave out what is worth least.`];
}
