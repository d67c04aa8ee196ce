import { memoryClose } from './marker.ts';
import { isMemoryCall, isOwnTool } from './memory-calls.ts';
import type { Counts, Item, Rollout } from './types.ts';

export interface Filtered {
  /** In source order, with their numbers as they were. */
  readonly items: readonly Item[];
  /** Whether a person's words are left. Without them there is nothing to learn. */
  readonly hasHuman: boolean;
  /** What was taken out: reason → items or passages. */
  readonly dropped: Counts;
}

/**
 * What extraction may see. Left out: what programs put into the session (instructions, instruction files, skills,
 * environment; interruptions stay), and memory, whoever shows it: injected, cited, printed by a tool, pasted by a
 * person. So nothing is learned from what was already remembered (D14).
 * @source design §5; spec §4.4
 */
export function filterRollout({ items }: Pick<Rollout, 'items'>): Filtered {
  const memoryCalls = new Set(items.filter(isMemoryCall).map((item) => item.call));
  const dropped: Record<string, number> = {};
  const count = (reason: string): void => {
    dropped[reason] = (dropped[reason] ?? 0) + 1;
  };
  const kept = items.flatMap((item) => {
    if (item.who === 'harness' && !isInterruption(item.text)) return none(count, 'harness');
    if (item.kind === 'output' && item.call !== undefined && memoryCalls.has(item.call))
      return none(count, 'memory_read');
    if (item.kind === 'output' && isOwnTool(item.tool)) return none(count, 'memory_read');
    const text = withoutMemory(item, count);
    if (text === item.text) return [item];
    return text.trim() === '' ? none(count, 'emptied') : [{ ...item, text }];
  });
  return { items: kept, hasHuman: kept.some((item) => item.who === 'human'), dropped };
}

interface Passage {
  readonly reason: string;
  readonly open: string;
  readonly close: string;
  /** Only where it starts a line: a sentence that mentions it is no such passage. */
  readonly atLineStart: boolean;
}

const passages: readonly Passage[] = [
  { reason: 'memory', open: '<commit-to-memory v="1"', close: memoryClose, atLineStart: false },
  {
    reason: 'memory',
    open: '========= MEMORY_SUMMARY BEGINS =========',
    close: '========= MEMORY_SUMMARY ENDS =========',
    atLineStart: false,
  },
  { reason: 'citation', open: '<oai-mem-citation>', close: '</oai-mem-citation>', atLineStart: false },
  { reason: 'reminder', open: '<system-reminder>', close: '</system-reminder>', atLineStart: false },
  { reason: 'instructions', open: '# AGENTS.md instructions', close: '</INSTRUCTIONS>', atLineStart: true },
  { reason: 'instructions', open: '<user_instructions>', close: '</user_instructions>', atLineStart: true },
  { reason: 'environment', open: '<environment_context>', close: '</environment_context>', atLineStart: true },
  { reason: 'skill', open: '<skill>', close: '</skill>', atLineStart: true },
];

/** `[k3f7x2ab@88,91]` at a line's end: a handbook's bullet, whoever shows it. */
const handbookMark = /\[[a-z2-7]{8}@[0-9:., ]{1,400}\][ \t.]{0,4}$/;
/** `(@12,15)` at a line's end: a bullet of a summary or a raw memory. */
const stage1Mark = /\(@[0-9:., ]{1,400}\)[ \t.]{0,4}$/;
const markLength = 420;
const bullet = /^[ \t+>-]{0,12}[-*] /;

const interruptions = ['<turn_aborted>', '[Request interrupted by user'];

function isInterruption(text: string): boolean {
  const start = text.trimStart();
  return interruptions.some((known) => start.startsWith(known));
}

function none(count: (reason: string) => void, reason: string): [] {
  count(reason);
  return [];
}

function withoutMemory(item: Item, count: (reason: string) => void): string {
  let text = item.text;
  for (const passage of passages) text = withoutPassages(text, passage, item.who === 'tool', count);
  return withoutBullets(text, item.who === 'tool', count);
}

/**
 * @param cutOpen an opening without its end (an output that was cut short) takes everything after it along; a person's
 *   text keeps it.
 */
function withoutPassages(
  text: string,
  { reason, open, close, atLineStart }: Passage,
  cutOpen: boolean,
  count: (reason: string) => void,
): string {
  const kept: string[] = [];
  let from = 0;
  for (let start = text.indexOf(open); start !== -1; start = text.indexOf(open, start)) {
    if (atLineStart && !startsLine(text, start)) {
      start += open.length;
      continue;
    }
    const end = text.indexOf(close, start + open.length);
    if (end === -1 && (!cutOpen || atLineStart)) break;
    kept.push(text.slice(from, start));
    count(reason);
    from = end === -1 ? text.length : end + close.length;
    start = from;
  }
  return from === 0 ? text : kept.join('') + text.slice(from);
}

function startsLine(text: string, at: number): boolean {
  return /(^|\n)[ \t]*$/.test(at <= 40 ? text.slice(0, at) : `-${text.slice(at - 40, at)}`);
}

function withoutBullets(text: string, isTool: boolean, count: (reason: string) => void): string {
  if (!text.includes('@')) return text;
  const lines = text.split('\n');
  const kept = lines.filter((line) => !isMemoryLine(line, isTool));
  if (kept.length === lines.length) return text;
  count('memory_line');
  return kept.join('\n');
}

/** A person who comments on a bullet does not write it as a bullet; a search shows it behind a path and a number. */
function isMemoryLine(line: string, isTool: boolean): boolean {
  const end = line.slice(-markLength);
  if (isTool) return handbookMark.test(end) || (bullet.test(line) && stage1Mark.test(end));
  return bullet.test(line) && handbookMark.test(end);
}
