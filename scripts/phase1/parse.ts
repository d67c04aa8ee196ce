import { jsonTextOf, salvage, withoutThoughts } from '../model/json-text.ts';
import type { ModelReply } from '../model/types.ts';
import { sanitizeText } from '../shared/sanitize.ts';
import { stage1Limits } from './limits.ts';
import { stage1Keys } from './request.ts';
import type { ExtractionFailure, Stage1Text } from './types.ts';

export type Parsed =
  | { readonly outcome: 'text'; readonly text: Stage1Text }
  | { readonly outcome: 'nothing' }
  | { readonly outcome: 'failed'; readonly failure: ExtractionFailure; readonly detail: string };

/**
 * What a model's reply is, of all that it can be (D26–D31). Only an object of exactly the three strings is an answer;
 * without raw memory or summary it says "nothing worth keeping". The strings come back without control characters and
 * without marks that have a meaning elsewhere.
 * @source spec §4.8, §4.9
 */
export function parseReply(reply: ModelReply): Parsed {
  if (reply.finish === 'refusal') return failed('refusal', 'the model or a filter declined');
  const json = jsonTextOf(reply.text) ?? wholeFields(reply.text);
  if (json !== null) return readObject(JSON.parse(json));
  if (reply.finish === 'length') return failed('cut_off', 'the answer ended at the output limit');
  if (reply.toolCalls.length > 0) return failed('conversation', 'the model called a tool of the session');
  const words = withoutThoughts(reply.text).trim();
  if (words === '') return failed('empty_reply', 'the answer is empty');
  if (/^[`\s]*\{/.test(words)) return failed('cut_off', 'the JSON object never ends');
  if (isDeclined(words)) return failed('refusal', 'the model declined in words');
  if (isConversation(words)) return failed('conversation', 'the model continued the session');
  return failed('not_json', 'the answer is prose');
}

function failed(failure: ExtractionFailure, detail: string): Parsed {
  return { outcome: 'failed', failure, detail };
}

/** A reply that lost only its last brace still has all it should say. */
function wholeFields(text: string): string | null {
  const fields = salvage(text);
  return fields !== null && stage1Keys.every((key) => fields[key] !== undefined) ? JSON.stringify(fields) : null;
}

function readObject(value: unknown): Parsed {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return failed('wrong_shape', 'the answer is no object');
  const fields = new Map<string, unknown>(Object.entries(value));
  if (fields.has('role') && fields.has('content')) return failed('conversation', 'the model wrote a chat message');
  const missing = stage1Keys.filter((key) => !fields.has(key));
  if (missing.length > 0) return failed('wrong_shape', `missing: ${missing.join(', ')}`);
  const extra = [...fields.keys()].filter((key) => !stage1Keys.some((known) => known === key));
  if (extra.length > 0) return failed('wrong_shape', `${extra.length} key${extra.length === 1 ? '' : 's'} too many`);
  const [summary, slug, raw] = stage1Keys.map((key) => fields.get(key));
  if (typeof summary !== 'string' || typeof slug !== 'string' || typeof raw !== 'string')
    return failed('wrong_shape', 'a value is no string');
  const text = { rolloutSummary: plain(summary), rolloutSlug: slugOf(slug), rawMemory: plain(raw) };
  if (text.rolloutSummary === '' || text.rawMemory === '') return { outcome: 'nothing' };
  return { outcome: 'text', text };
}

/**
 * A name that is safe in a path: lower-case ASCII letters, digits, `-`, `_`; other letters are dropped, anything
 * between words becomes one `-`.
 */
export function slugOf(text: string): string {
  return text
    .slice(0, 1_000)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9_]+/g, '-')
    .slice(0, stage1Limits.slugCharacters)
    .replace(/^[-_]+|[-_]+$/g, '');
}

/** Far above what is kept, so that nothing after this meets an endless text. */
const mostCharacters = 200_000;

/** Signs that mean something to a reader of memory: each loses its bracket, so that no text can pretend to be one. */
const marks: readonly (readonly [sign: RegExp, instead: string])[] = [
  [/<(?=\/?(?:commit-to-memory|oai-mem-citation|citation_entries|rollout_ids|system-reminder)\b)/gi, '‹'],
  [/=(?==* ?MEMORY_SUMMARY (?:BEGINS|ENDS))/g, '-'],
  [/\[(?=[a-z2-7]{8}@[0-9])/g, '('],
  [/<(?=!--)/g, '‹'],
];

function plain(text: string): string {
  let clean = sanitizeText(text.slice(0, mostCharacters)).replace(
    /[\u0080-\u009f\u202a-\u202e\u2066-\u2069\ufeff]/g,
    '',
  );
  for (const [sign, instead] of marks) clean = clean.replace(sign, instead);
  return clean.trim();
}

/** How refusals begin in the languages of most sessions. Only the name of the failure depends on it. */
const declining =
  /^(?:i['’]?m sorry|i am sorry|sorry,|i (?:can['’]?t|cannot|won['’]?t|am unable)|unfortunately,? i|es tut mir leid|tut mir leid|leider (?:kann|darf)|je suis désolée?|désolée?|lo siento|no puedo|desculpe|mi dispiace|对不起|抱歉|很抱歉|我无法|申し訳|すみません|죄송|извините|к сожалению|آسف|عذر|xin lỗi)/iu;

function isDeclined(words: string): boolean {
  return words.length <= 800 && declining.test(words);
}

/** It speaks to somebody, plays a part, or does the work: a row's label, a chat role, a patch, a question at the end. */
function isConversation(words: string): boolean {
  return (
    /^\s{0,8}\[(?:human|assistant|commentary|tool|harness|other_agent)\b[^\]\n]{0,80}\]/m.test(words) ||
    /^(?:human|user|assistant|system|tool)\s?:/im.test(words) ||
    /<\|?(?:im_start|assistant|user|tool_call|function_call)/i.test(words) ||
    /^\*\*\* Begin Patch|^diff --git |^```(?:bash|sh|diff|python|ts|js)/m.test(words) ||
    /[?？؟]$/.test(words)
  );
}
