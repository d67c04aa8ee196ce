import { isUtf8 } from 'node:buffer';
import { parsedJson } from '../shared/json.ts';
import { type Fields, isFields, listOf } from './fields.ts';
import { newHash } from './lines.ts';
import { objectsFrom } from './records.ts';
import { wholeFile } from './whole-file.ts';

/** A session that is one JSON object with the list of its messages. */
export interface Document {
  /** Its own fields; of one that was cut those that stand before the messages. */
  readonly fields: Fields;
  /** In order, what is no object too. */
  readonly messages: readonly unknown[];
  readonly isCut: boolean;
  /** Some bytes were no UTF-8 and became U+FFFD. */
  readonly badText: boolean;
  readonly bytes: number;
  readonly sha256: string;
}

/** A larger one cannot be one text in memory. */
const largest = 256 * 1024 * 1024;

/** @returns why it is none, in words. @throws what the file system says. */
export function documentIn(path: string): Document | string {
  const bytes = wholeFile(path, largest);
  if (bytes === null) return `larger than ${largest / 1024 / 1024} MiB`;
  if (bytes.length === 0) return 'empty';
  const found = documentOf(bytes.toString('utf8'));
  if (found === null) return 'no JSON object';
  return { ...found, badText: !isUtf8(bytes), bytes: bytes.length, sha256: newHash().update(bytes).digest('hex') };
}

/**
 * Words that a program printed before the object are passed over. Of an object that was cut (an export whose program
 * died, a full disk) whole messages are kept.
 */
export function documentOf(text: string): Pick<Document, 'fields' | 'messages' | 'isCut'> | null {
  const start = /(?:^|\n)\ufeff?[ \t]{0,40}(?=\{)/.exec(text);
  if (start === null) return null;
  const from = start.index + start[0].length;
  const whole = parsedJson(text.slice(from));
  if (isFields(whole)) return { fields: whole, messages: listOf(whole.messages), isCut: false };
  const list = listAt(text, from);
  if (list === null) return null;
  const fields = parsedJson(`${text.slice(from, list.key).replace(/,\s*$/, '')}}`);
  return isFields(fields) ? { fields, messages: objectsFrom(text, list.first, ',').objects, isCut: true } : null;
}

/** Where the outermost key `messages` and its list's first element stand. */
function listAt(text: string, from: number): { key: number; first: number } | null {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text[at];
    if (code === '{' || code === '[') depth += 1;
    else if (code === '}' || code === ']') depth -= 1;
    else if (code === '"') {
      const opening = depth === 1 ? /^"messages"\s*:\s*\[/.exec(text.slice(at, at + 200)) : null;
      if (opening !== null) return { key: at, first: at + opening[0].length };
      at = textEnd(text, at);
    }
    if (depth === 0) return null;
  }
  return null;
}

function textEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
