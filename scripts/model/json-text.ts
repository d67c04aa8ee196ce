import { parsedJson } from '../shared/json.ts';

/**
 * The answer without what the model thought before it: leading `<think>…</think>` (also `<thinking>`, several, or one
 * that never ends), and everything before a closing tag whose opening one the server's template swallowed. Tags further
 * on are part of the answer.
 */
export function withoutThoughts(text: string): string {
  let rest = text.trimStart();
  for (let opened = opening.exec(rest); opened !== null; opened = opening.exec(rest)) {
    const close = rest.indexOf(`</${opened[1]}>`);
    if (close === -1) return '';
    rest = rest.slice(close + `</${opened[1]}>`.length).trimStart();
  }
  if (/^[{["`]/.test(rest)) return rest;
  const orphan = /<\/think(?:ing)?>/.exec(rest);
  if (orphan === null || /<think(?:ing)?>/.test(rest.slice(0, orphan.index))) return rest;
  return rest.slice(orphan.index + orphan[0].length).trimStart();
}

/**
 * The one JSON object of a reply, without thoughts, fences and prose around it: the longest one that parses. Raw line
 * breaks inside strings, which JSON forbids and models write, are escaped.
 * @returns JSON text that parses to an object, or null where none stands there whole (an object inside a cut one is none).
 */
export function jsonTextOf(reply: string): string | null {
  const text = withoutThoughts(reply);
  let best: string | null = null;
  let tries = 0;
  for (let start = text.indexOf('{'); start !== -1 && tries < mostTries; ) {
    const end = endOfObject(text, start);
    if (end === -1 && /^\{\s{0,99}"/.test(text.slice(start, start + 101))) break;
    const json = end === -1 ? null : asJson(text.slice(start, end));
    if (json !== null && json.length > (best?.length ?? 0)) best = json;
    if (json === null) tries++;
    start = text.indexOf('{', json === null ? start + 1 : end);
  }
  return best;
}

/**
 * What a reply that was cut off still gives: the top-level fields of its first object whose values are complete
 * strings. Only for replies of which `jsonTextOf` says null.
 * @returns null where no object begins.
 */
export function salvage(reply: string): Readonly<Record<string, string>> | null {
  const text = withoutThoughts(reply);
  let position = text.indexOf('{') + 1;
  if (position === 0) return null;
  const fields: [string, string][] = [];
  for (;;) {
    const name = stringAt(text, position);
    const colon = name === null ? null : /^\s{0,999}:/.exec(text.slice(name.end, name.end + 1_000));
    const value = name === null || colon === null ? null : stringAt(text, name.end + colon[0].length);
    if (name === null || value === null) return Object.fromEntries(fields);
    fields.push([name.text, value.text]);
    const comma = /^\s{0,999},/.exec(text.slice(value.end, value.end + 1_000));
    if (comma === null) return Object.fromEntries(fields);
    position = value.end + comma[0].length;
  }
}

const opening = /^<(think|thinking)>/;
/** Braces that begin no object before we give up: each costs one pass over the rest. */
const mostTries = 50;

/** The index behind the brace that closes the one at `start`, or -1. Braces inside strings do not count. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      at = endOfString(text, at) - 1;
      if (at < 0) return -1;
    } else if (char === '{') depth++;
    else if (char === '}' && --depth === 0) return at + 1;
  }
  return -1;
}

/** The index behind the quote that closes the one at `start`, or -1. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return -1;
}

function asJson(text: string): string | null {
  if (isObject(parsedJson(text))) return text;
  const escaped = withEscapes(text);
  return escaped !== text && isObject(parsedJson(escaped)) ? escaped : null;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function withEscapes(text: string): string {
  let result = '';
  let from = 0;
  for (let start = text.indexOf('"'); start !== -1; start = text.indexOf('"', from)) {
    const end = endOfString(text, start);
    if (end === -1) break;
    result += text.slice(from, start) + escapeControls(text.slice(start, end));
    from = end;
  }
  return result + text.slice(from);
}

function escapeControls(text: string): string {
  return text.replace(/[\u0000-\u001f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function stringAt(text: string, from: number): { readonly text: string; readonly end: number } | null {
  const start = from + (/^\s{0,999}/.exec(text.slice(from, from + 999))?.[0].length ?? 0);
  if (text[start] !== '"') return null;
  const end = endOfString(text, start);
  const value = end === -1 ? undefined : parsedJson(escapeControls(text.slice(start, end)));
  return typeof value === 'string' ? { text: value, end } : null;
}
