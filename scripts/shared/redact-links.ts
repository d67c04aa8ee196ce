import { matchAt, startsLine } from './redact-quotes.ts';
import type { Span } from './redact-types.ts';

/** A name that may say that a secret follows. */
export interface Name extends Span {
  readonly text: string;
  readonly environment: boolean;
  /** Stands where configuration files have names: at a line's start, perhaps after `export`. */
  readonly leads: boolean;
  readonly flag: boolean;
}

/**
 * How name and value are joined. `tight`: `=` without spaces. `field`: value of an entry `{"name": …, "value": …}`.
 * `words`: `the password is …`, `PASSWORD '…'`, `--password …`.
 */
export interface Link {
  readonly how: 'tight' | 'loose' | 'colon' | 'field' | 'flag' | 'words' | 'sql' | 'list' | 'element';
  readonly start: number;
}

const maxName = 64;

export function nameAround(text: string, at: number): Name | null {
  let start = at;
  while (start > 0 && at - start < maxName && isNameChar(text.charCodeAt(start - 1), true)) start--;
  let end = at;
  while (end < text.length && end - at < maxName && isNameChar(text.charCodeAt(end), false)) end++;
  if (end - start >= maxName) return null;
  if (text[start - 1] === '\\' && /^[nrt]/.test(text.slice(start, start + 1))) start++;
  const escaped = /^(?:u00(?:22|27|3c|0a)|[A-Fa-f0-9]{2}(?=\w))/.exec(
    /[\\%]/.test(text[start - 1] ?? '') ? text.slice(start, start + 6) : '',
  );
  if (escaped !== null) start += escaped[0].length;
  const dashes = /^[-.]{0,3}/.exec(text.slice(start, start + 3))?.[0].length ?? 0;
  const plain = text.slice(start + dashes, end);
  const lead = text.slice(Math.max(0, start - 12), start);
  return {
    start: start + dashes,
    end,
    text: plain,
    environment: /^[A-Z][A-Z0-9_]{2,}$/.test(plain),
    leads: startsLine(text, start) || /(?:export|set|ENV|ARG|env|;|&&|-e|\+|-) ?$/.test(lead),
    flag: dashes > 0 && text[start] === '-' && !/[A-Za-z0-9]/.test(text[start - 1] ?? ''),
  };
}

function isNameChar(code: number, dots: boolean): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x5f ||
    code === 0x2d ||
    (dots && code === 0x2e)
  );
}

const join =
  /(?:["'`\])]|\\{1,7}["'`]|%22){0,3}[ \t]{0,16}(?:(?<sign>=>|:=|\?=|={1,3}|:(?!:)|%3[AaDd]|\\u003[ad])|(?<comma>,))[ \t]{0,16}/y;
const typed = /[&A-Za-z][\w<>[\]|.? &']{0,40}? ?= ?(?=[rbuf]{0,2}\\{0,7}["'`])/y;
const fieldOfJson = /\\{0,7}["'],?\s{0,12}(?:\\n)?\s{0,12}\\{0,7}["']?value\\{0,7}["']?\s?[:=]\s?/iy;
const fieldOfYaml = /["']?(?:\r?\n|\\n)[ ]{0,24}value:[ ]{1,4}/y;
const saying = /[ \t]{1,3}(?:is|are|was|=)(?: now| set to)?:?[ \t]{1,3}/y;

export function linkAfter(text: string, name: Name): Link | null {
  const next = text.charCodeAt(name.end);
  if (next === 0x3e && text[name.start - 1] === '<' && text[name.start - 2] !== '?')
    return { how: 'element', start: name.end + 1 };
  const joined = matchAt(join, text, name.end);
  if (joined !== null) {
    const start = name.end + joined[0].length;
    if (joined.groups?.comma !== undefined) {
      const field = matchAt(fieldOfJson, text, name.end);
      if (field !== null) return { how: 'field', start: name.end + field[0].length };
      return joined[0].startsWith(',') ? null : { how: 'list', start };
    }
    const sign = joined.groups?.sign ?? '';
    if (sign === '=' && joined[0] === '=') return { how: 'tight', start };
    if (sign !== ':') return { how: 'loose', start };
    const type = matchAt(typed, text, start);
    return type === null ? { how: 'colon', start } : { how: 'loose', start: start + type[0].length };
  }
  const field = matchAt(fieldOfJson, text, name.end) ?? matchAt(fieldOfYaml, text, name.end);
  if (field !== null) return { how: 'field', start: name.end + field[0].length };
  if (next !== 0x20 && next !== 0x09) return null;
  if (name.flag) return { how: 'flag', start: name.end + 1 };
  const said = matchAt(saying, text, name.end);
  if (said !== null) return { how: 'words', start: name.end + said[0].length };
  return text[name.end + 1] === "'" ? { how: 'sql', start: name.end + 1 } : null;
}
