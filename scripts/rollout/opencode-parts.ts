import { answered, callWith, typedCommand } from './calls.ts';
import { type Fields, fieldsOf, integerOf, jsonOf, listOf, textOf } from './fields.ts';
import { splitWords } from './harness.ts';
import { interrupted, type Part } from './items.ts';

/** A part, and when it happened; null where it gives no item, but keeps its place. */
export interface Timed {
  readonly part: Part | null;
  /** As the part has it; undefined: as its message. */
  readonly time?: unknown;
}

/** The text that stands for a command that the person ran with `!`; the answer to it holds the command. */
const typedMark = 'The following tool was executed by the user';

/** Types of parts that are nobody's words. */
const silentTypes = new Set([
  'reasoning',
  'step-start',
  'step-finish',
  'snapshot',
  'patch',
  'agent',
  'retry',
  'compaction',
]);

/** What a part of a person's message says. Words that the program put in are `synthetic`. Null: its type is not known. */
export function userParts(part: Fields): Timed[] | null {
  const type = textOf(part.type) ?? '';
  if (type === 'text') {
    const text = textOf(part.text) ?? '';
    if (part.synthetic === true || part.ignored === true) return [{ part: { who: 'harness', kind: 'text', text } }];
    return splitWords(unquoted(text)).map((words) => ({ part: { ...words, kind: 'text' } }));
  }
  if (type === 'file')
    return [
      { part: { who: 'human', kind: 'text', text: String(part.mime).startsWith('image/') ? '[image omitted]' : '' } },
    ];
  if (type === 'subtask') return [{ part: { who: 'other_agent', kind: 'text', text: textOf(part.prompt) ?? '' } }];
  return silentTypes.has(type) ? [{ part: null }] : null;
}

/**
 * What a part of the model's message says. A tool's part takes two places, for the call and for its output, whether it
 * has ended or not. Null: its type is not known.
 * @param isTyped the person ran the tool themselves.
 */
export function assistantParts(part: Fields, isSummary: boolean, isTyped: boolean): Timed[] | null {
  const type = textOf(part.type) ?? '';
  if (type === 'text') {
    const text = textOf(part.text) ?? '';
    return [
      { part: { who: isSummary ? 'harness' : 'commentary', kind: 'text', text }, time: fieldsOf(part.time).start },
    ];
  }
  if (type === 'tool') return toolParts(part, isTyped);
  return silentTypes.has(type) || type === 'file' ? [{ part: null }] : null;
}

/** Whether a message of the person's stands for a command that they ran. */
export function isTypedCommand(parts: readonly unknown[]): boolean {
  return parts.map(fieldsOf).some(({ synthetic, text }) => synthetic === true && text === typedMark);
}

/** The person stopped the model in this message. */
export function interruptionIn(info: Fields): Part | null {
  return fieldsOf(info.error).name === 'MessageAbortedError' ? interrupted : null;
}

/** `opencode run` puts quotes around a prompt of several words. */
function unquoted(text: string): string {
  const inner = /^"((?:[^"\\]|\\[\s\S])*)"\s{0,8}$/.exec(text)?.[1];
  return inner === undefined ? text : inner.replace(/\\"/g, '"');
}

function toolParts(part: Fields, isTyped: boolean): Timed[] {
  const state = fieldsOf(part.state);
  const tool = textOf(part.tool) ?? 'unknown';
  const call = textOf(part.callID) ?? textOf(part.id) ?? '';
  const time = fieldsOf(state.time);
  const asked = { ...callWith(tool, state.input), call };
  return [
    { part: isTyped ? typedCommand(asked.text, call) : asked, time: time.start },
    { part: outputOf(tool, call, state), time: time.end },
  ];
}

function outputOf(tool: string, call: string, state: Fields): Part | null {
  const metadata = fieldsOf(state.metadata);
  const said = humanWords(tool, state);
  if (said !== null) return { who: 'human', kind: 'text', text: said, call };
  const exit = integerOf(metadata.exit);
  if (state.status === 'completed')
    return { who: 'tool', kind: 'output', text: asText(state.output), call, exit: exit ?? 0 };
  if (state.status !== 'error') return null;
  return { who: 'tool', kind: 'output', text: asText(state.error), call, exit: exit ?? 1 };
}

/** The person's answers to the model's questions, or what they wrote when they refused a call. */
function humanWords(tool: string, { input, metadata, status, error }: Fields): string | null {
  if (status === 'error')
    return /with the following feedback:\s{0,4}([\s\S]{1,100000})$/.exec(textOf(error) ?? '')?.[1]?.trim() ?? null;
  if (tool !== 'question') return null;
  const answers = listOf(fieldsOf(metadata).answers);
  const questions = listOf(fieldsOf(input).questions).map((entry) => textOf(fieldsOf(entry).question) ?? '?');
  return answered(questions.map((question, index) => [question, wordsIn(answers[index])]));
}

function wordsIn(answer: unknown): string {
  return (Array.isArray(answer) ? answer : [answer]).filter((word) => typeof word === 'string').join('; ');
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : jsonOf(value);
}
