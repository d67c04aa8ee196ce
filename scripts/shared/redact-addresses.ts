import { matchAt } from './redact-quotes.ts';
import type { Detector, Span } from './redact-types.ts';
import { isStandIn, isWordy, looksRandom } from './redact-values.ts';

/** `postgres://user:secret@host`, `redis://:secret@host`, `https://secret@host`. The user's name stays. */
export const urlUser: Detector = {
  id: 'url-user',
  literals: ['://'],
  detect(text, at) {
    const from = at + 3;
    if (!/[A-Za-z0-9+]/.test(text[at - 1] ?? '')) return null;
    const authority = matchAt(urlAuthority, text, from)?.[0] ?? '';
    const colon = authority.indexOf(':');
    const sign = authority.lastIndexOf('@');
    if (sign === -1) return colon === -1 ? null : rawPassword(text, from, colon, authority);
    const start = colon === -1 || colon > sign ? from : from + colon + 1;
    const value = text.slice(start, from + sign);
    if (value === '' || isStandInOfUrl(value)) return null;
    if (start === from && !(looksRandom(value) && value.length >= 16)) return null;
    return { start, end: from + sign };
  },
};

const urlAuthority = /[^\s/?#"'`<>\\]{1,512}/y;

/** A password with an unescaped `/`, `?` or `#`: what follows the colon is no port, and an `@` comes soon. */
function rawPassword(text: string, from: number, colon: number, authority: string): Span | null {
  if (/^\d{0,5}$/.test(authority.slice(colon + 1))) return null;
  const start = from + colon + 1;
  const password = matchAt(/[^\s"'`<>\\@:]{1,128}(?=@[A-Za-z0-9.-]{1,253}(?:[:/]|$))/y, text, start)?.[0];
  return password === undefined || isStandInOfUrl(password) ? null : { start, end: start + password.length };
}

/** Here only what cannot be a password stays: `${PW}`, `<password>`, `***`, the word itself. */
export function isStandInOfUrl(value: string): boolean {
  return (
    isStandIn(value) &&
    !/^(?:admin|changeme|default|demo|example|local|pw|root|secret|super|test|testing|user)+\d*$/i.test(value)
  );
}

/** `?sig=…`, `&access_token=…`, `&X-Amz-Signature=…`: what opens the door goes, the rest of the URL stays. */
export const urlQuery: Detector = {
  id: 'url-query',
  literals: [
    'sig=',
    'signature=',
    'token=',
    'key=',
    'secret=',
    'password=',
    'passwd=',
    'pwd=',
    'auth=',
    'code=',
    'ticket=',
    'credential=',
    'sid=',
  ],
  detect(text, at) {
    let start = at;
    while (start > 0 && at - start < 48 && /[A-Za-z0-9_.-]/.test(text[start - 1] ?? '')) start--;
    const lead = text.slice(Math.max(0, start - 5), start);
    if (!/[?&#]$|&amp;$/.test(lead)) {
      const escaped = /(?<=\\)u0026|(?<=%)(?:26|3F)/.exec(text.slice(Math.max(0, start - 1), start + 5));
      if (escaped === null) return null;
    }
    const from = text.indexOf('=', at) + 1;
    const value = matchAt(queryValue, text, from)?.[0] ?? '';
    const name = text.slice(start, from - 1).toLowerCase();
    if (isStandIn(value) || (isWordy(value) && !/pass|pwd/.test(name))) return null;
    const weak = /(?:^|[^a-z])(?:code|key|sid|auth|ticket|credential)$/.test(name) && !/api|access|secret/.test(name);
    const long = weak ? looksRandom(value) && value.length >= 16 : value.length >= 6;
    return long ? { start: from, end: from + value.length } : null;
  },
};

const queryValue = /[^\s&"'`<>\\#)\]}]{4,4096}/y;
