import { createRedactor, type Redactor } from '../shared/redact.ts';
import { placeholder } from '../shared/redact-types.ts';
import { sanitizeText } from '../shared/sanitize.ts';
import { withoutHomes } from './home.ts';

/** Bounds in bytes of UTF-8. */
export const wordsLimit = 256 * 1024;
export const toolTextLimit = 32 * 1024;

/**
 * A record's text as an item carries it: media named instead of held, at most `limit` bytes (head and tail, the gap
 * marked and cut at line ends where there are some), home folders as `~`, no lone surrogates or control characters.
 */
export function itemText(text: string, limit: number, home: string): string {
  return sanitizeText(withoutHomes(bounded(withoutMedia(text), limit), home));
}

/**
 * Head and tail of a text that is longer than `limit` bytes, `[… n bytes omitted …]` between them. A cut leaves no part
 * of a secret behind: neither half of one, nor one without the name by which it is known.
 */
export function bounded(text: string, limit: number): string {
  if (text.length * 3 <= limit) return text;
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= limit) return text;
  const headEnd = lineEndBefore(bytes, Math.floor(limit / 2));
  const tailStart = lineStartAfter(bytes, bytes.length - Math.floor(limit / 2));
  const gap = `\n[… ${tailStart - headEnd} bytes omitted …]\n`;
  const [head, afterHead] = around(bytes, headEnd);
  const [beforeTail, tail] = around(bytes, tailStart);
  const start = bytes.toString('utf8', 0, headEnd - Buffer.byteLength(head));
  const end = bytes.toString('utf8', tailStart + Buffer.byteLength(tail));
  return `${start}${withoutSecrets(head, '', afterHead)}${gap}${withoutSecrets(tail, beforeTail, '')}${end}`;
}

const snap = 4096;
const newline = 0x0a;

function lineEndBefore(bytes: Buffer, at: number): number {
  const found = bytes.lastIndexOf(newline, at);
  if (found !== -1 && at - found <= snap) return found;
  let end = at;
  while (end > at - snap && end > 0 && isOfWord(bytes[end - 1])) end -= 1;
  return end === 0 || isOfWord(bytes[end - 1]) ? characterStart(bytes, at) : end;
}

function lineStartAfter(bytes: Buffer, at: number): number {
  const found = bytes.indexOf(newline, at);
  if (found !== -1 && found - at <= snap) return found + 1;
  let start = at;
  while (start < at + snap && start < bytes.length && isOfWord(bytes[start])) start += 1;
  return start === bytes.length || isOfWord(bytes[start]) ? characterStart(bytes, at) : start;
}

/** Letters, digits, the signs of tokens and of base64, and every byte of a character beyond ASCII. */
function isOfWord(byte: number | undefined): boolean {
  return byte !== undefined && (byte >= 0x80 || /[\w+/=.%~-]/.test(String.fromCharCode(byte)));
}

/** What stands on both sides of a cut. */
function around(bytes: Buffer, at: number): [before: string, after: string] {
  const start = characterStart(bytes, Math.max(0, at - snap));
  const end = characterStart(bytes, Math.min(bytes.length, at + snap));
  return [bytes.toString('utf8', start, at), bytes.toString('utf8', at, end)];
}

/** A piece of text without the secrets that it would show only together with what stands before or after it. */
function withoutSecrets(piece: string, before: string, after: string): string {
  byForm ??= createRedactor({});
  let kept = '';
  let from = 0;
  for (const span of byForm.find(before + piece + after)) {
    const start = Math.max(span.start - before.length, from);
    const end = Math.min(span.end - before.length, piece.length);
    if (end <= from || start >= piece.length) continue;
    kept += piece.slice(from, start) + placeholder;
    from = end;
  }
  return kept + piece.slice(from);
}

let byForm: Redactor | undefined;

function characterStart(bytes: Buffer, at: number): number {
  let start = at;
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1;
  return start;
}

/** A run of this many base64 characters is a file, not words. */
const mediaRun = 2048;
const dataUrl = /data:([a-z]{1,20})\/[a-z0-9.+-]{1,80};base64,$/;

function withoutMedia(text: string): string {
  if (text.length < mediaRun) return text;
  const kept: string[] = [];
  let from = 0;
  for (const run of base64Runs(text)) {
    const before = text.slice(from, run.start);
    const named = dataUrl.exec(before.slice(-120));
    kept.push(named ? before.slice(0, before.length - named[0].length) : before);
    kept.push(named?.[1] === 'image' ? '[image omitted]' : `[base64 omitted, ${run.end - run.start} characters]`);
    from = run.end;
  }
  return from === 0 ? text : kept.join('') + text.slice(from);
}

function base64Runs(text: string): { start: number; end: number }[] {
  const runs: { start: number; end: number }[] = [];
  let start = 0;
  for (let at = 0; at <= text.length; at += 1) {
    if (at < text.length && isBase64(text.charCodeAt(at))) continue;
    if (at - start >= mediaRun && isMixed(text.slice(start, start + mediaRun))) runs.push({ start, end: at });
    start = at + 1;
  }
  return runs;
}

function isBase64(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x2f && code <= 0x39) ||
    code === 0x2b ||
    code === 0x3d
  );
}

/** Base64 of anything mixes cases and digits; a ruler of `=` or a path does not. */
function isMixed(run: string): boolean {
  return /[a-z]/.test(run) && /[A-Z]/.test(run) && /[0-9]/.test(run);
}
