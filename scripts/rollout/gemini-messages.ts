import { parsedJson } from '../shared/json.ts';
import { answered, callWith } from './calls.ts';
import { type Fields, fieldsOf, isFields, jsonOf, listOf, textOf } from './fields.ts';
import { splitWords } from './harness.ts';
import type { Part } from './items.ts';

const types = new Set(['user', 'gemini', 'info', 'error', 'warning']);

/** Whether a record is a message of a conversation. */
export function isMessage(record: Fields): boolean {
  return textOf(record.id) !== null && types.has(String(record.type));
}

/** Whether a message holds what tools answered: it stands in the user's place and is no person's. */
export function answersTools(message: Fields): boolean {
  return message.type === 'user' && partsOf(message.content).some((part) => isFields(part.functionResponse));
}

/** Whether the model goes on after this message. */
export function callsTools(message: Fields): boolean {
  return listOf(message.toolCalls).length > 0 || partsOf(message.content).some((part) => isFields(part.functionCall));
}

/**
 * What a message says, each part at its place; null keeps a place. A tool's call takes two, for its output as well, so
 * that a message that is written again with more calls keeps its numbers.
 */
export function messageParts(message: Fields): (Part | null)[] {
  if (message.type === 'gemini') return modelParts(message);
  if (message.type !== 'user') return harness(wordsIn(message.content));
  if (answersTools(message)) return partsOf(message.content).map(answerPart);
  return typed(message).flatMap(({ isFile, text }) => (isFile ? harness(text) : personParts(text)));
}

/** An output that was taken out of the model's sight later on: what stood there before is worth more. */
export function isMasked(text: string): boolean {
  return text.startsWith('<tool_output_masked>');
}

function harness(text: string): Part[] {
  return [{ who: 'harness', kind: 'text', text }];
}

/** Content is a text, a part, or parts. */
function partsOf(content: unknown): Fields[] {
  if (typeof content === 'string') return [{ text: content }];
  return (Array.isArray(content) ? content : [content])
    .map((part) => (typeof part === 'string' ? { text: part } : part))
    .filter(isFields);
}

/** The words of a content, media named; what the model thought is left out. */
function wordsIn(content: unknown): string {
  return partsOf(content)
    .map(wordOf)
    .filter((text) => text !== '')
    .join('\n');
}

function wordOf(part: Fields): string {
  if (part.thought === true) return '';
  if (isFields(part.inlineData)) return mediaName(part.inlineData.mimeType);
  if (isFields(part.fileData)) return mediaName(part.fileData.mimeType);
  return textOf(part.text) ?? '';
}

function mediaName(mimeType: unknown): string {
  return `[${/^(image|audio|video)\//.exec(String(mimeType))?.[1] ?? 'file'} omitted]`;
}

const filesStart = '--- Content from referenced files ---';
const filesEnd = '--- End of content ---';

/** The typed words, and the files that the program put in for an `@path` in them. */
function typed(message: Fields): { isFile: boolean; text: string }[] {
  if (message.displayContent !== undefined) return [{ isFile: false, text: wordsIn(message.displayContent) }];
  const words: string[] = [];
  const files: string[] = [];
  let isFile = false;
  for (const text of partsOf(message.content).map(wordOf)) {
    if (text.trim() === filesStart) isFile = true;
    if (text !== '') (isFile ? files : words).push(text);
    if (text.trim() === filesEnd) isFile = false;
  }
  return [
    { isFile: false, text: words.join('\n') },
    ...(files.length === 0 ? [] : [{ isFile: true, text: files.join('\n') }]),
  ];
}

const continued = /^\s{0,8}(?:System: )?Please continue\.\s{0,8}$/;
const background = /^\s{0,8}Background execution update:\n/;
const hint = /^\s{0,8}User (?:hints|steering update):\n<user_input>\n([\s\S]*?)\n<\/user_input>/;

/** What a person typed while the model worked comes wrapped in instructions. */
function personParts(text: string): Part[] {
  if (continued.test(text) || background.test(text)) return harness(text);
  const hinted = hint.exec(text);
  if (hinted !== null) return [{ who: 'human', kind: 'text', text: hinted[1] ?? '' }];
  return splitWords(text).map((words) => ({ ...words, kind: 'text' }));
}

function answerPart(part: Fields): Part | null {
  const response = fieldsOf(part.functionResponse);
  const call = textOf(response.id);
  if (!isFields(part.functionResponse)) {
    const text = wordOf(part);
    return hint.test(text) ? (personParts(text)[0] ?? null) : { who: 'harness', kind: 'text', text };
  }
  const tool = textOf(response.name) ?? 'unknown';
  return { ...outputOf(tool, responseText(response), undefined), ...(call === null ? {} : { call }) };
}

function modelParts(message: Fields): (Part | null)[] {
  const recorded = listOf(message.toolCalls).map(fieldsOf);
  const known = new Set(recorded.map(({ id }) => id));
  const asked = partsOf(message.content)
    .map((part) => fieldsOf(part.functionCall))
    .filter((call) => textOf(call.name) !== null && !known.has(call.id));
  return [
    { who: 'commentary', kind: 'text', text: wordsIn(message.content) },
    ...[...recorded, ...asked].flatMap(callAndOutput),
  ];
}

function callAndOutput(record: Fields): (Part | null)[] {
  const tool = textOf(record.name) ?? 'unknown';
  const id = textOf(record.id);
  const call = id === null ? {} : { call: id };
  const output = resultOf(tool, record);
  return [{ ...callWith(tool, record.args), ...call }, output === null ? null : { ...output, ...call }];
}

function resultOf(tool: string, { args, result, status, resultDisplay }: Fields): Part | null {
  const responses = partsOf(result)
    .map((part) => fieldsOf(part.functionResponse))
    .filter(({ response }) => response !== undefined);
  const text = responses.length > 0 ? responses.map(responseText).join('\n') : wordsIn(result);
  const said = text === '' ? (textOf(resultDisplay) ?? '') : text;
  if (said === '' && status !== 'success' && status !== 'error' && status !== 'cancelled') return null;
  const answers = tool === 'ask_user' ? answersIn(said, fieldsOf(args)) : null;
  return answers === null ? outputOf(tool, said, status) : { who: 'human', kind: 'text', text: answers };
}

function responseText({ response }: Fields): string {
  const given = fieldsOf(response);
  const said = given.output ?? given.error ?? response;
  return typeof said === 'string' ? said : said === undefined ? '' : jsonOf(said);
}

function outputOf(tool: string, said: string, status: unknown): Part {
  const { text, exit } = withoutFrame(said);
  const failed = status === 'error' || status === 'cancelled' ? 1 : status === 'success' ? 0 : undefined;
  const code = exit ?? failed;
  return { who: 'tool', kind: 'output', tool, text, ...(code === undefined ? {} : { exit: code }) };
}

const shellEnding =
  /(?:\nExit Code: (-?\d{1,10}))?(?:\nSignal: ([^\n]{1,40}))?(?:\nBackground PIDs: [^\n]{1,2000})?(?:\nProcess Group PGID: \d{1,12})?$/;

/** A shell's output without the lines that the program puts around it; its exit code stands there unless it is 0. */
function withoutFrame(said: string): { text: string; exit?: number } {
  const inner = withoutFence(said);
  if (!inner.startsWith('Output: ')) return { text: inner };
  const ending = shellEnding.exec(inner.slice(-4000));
  const body = inner.slice('Output: '.length, inner.length - (ending?.[0].length ?? 0));
  const exit = ending?.[1] !== undefined ? Number(ending[1]) : ending?.[2] !== undefined ? 1 : undefined;
  return { text: body === '(empty)' ? '' : body, ...(exit === undefined ? {} : { exit }) };
}

/** What hooks add stands after the fence, and is left out with it. */
function withoutFence(said: string): string {
  const open = /^<untrusted_context[^>\n]{0,200}>\n/.exec(said);
  const close = open === null ? -1 : said.lastIndexOf('\n</untrusted_context>');
  return open === null || close === -1 ? said : said.slice(open[0].length, Math.max(open[0].length, close));
}

/** `{"answers":{"0":"…"}}`, by the number of the question. */
function answersIn(said: string, args: Fields): string | null {
  const answers = fieldsOf(fieldsOf(parsedJson(said)).answers);
  const questions = listOf(args.questions).map((entry) => textOf(fieldsOf(entry).question) ?? '?');
  return answered(Object.entries(answers).map(([at, answer]) => [questions[Number(at)] ?? '?', String(answer)]));
}
