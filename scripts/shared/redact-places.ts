import { isStandInOfUrl, urlQuery, urlUser } from './redact-addresses.ts';
import { privateKey } from './redact-private-keys.ts';
import { bare, matchAt, openingAt, quoted } from './redact-quotes.ts';
import type { Detector, FormRule } from './redact-types.ts';
import { hasTokenSigns, isStandIn, isWordy, looksRandom } from './redact-values.ts';

/** Secrets that the standards' forms or the place where they stand give away, whoever made them. */
export const placeRules: readonly FormRule[] = [
  {
    id: 'jwt',
    provider: 'RFC 7519',
    literals: ['eyj'],
    pattern: 'eyJ[A-Za-z0-9_-]{8,4096}\\.[A-Za-z0-9_-]{4,16384}(?:\\.[A-Za-z0-9_-]{0,8192}){1,3}',
  },
  {
    id: 'private-key-base64',
    provider: 'PEM',
    literals: ['ls0tls1crudjti'],
    pattern:
      'LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJVkFUR|BFQyBQUklWQVRF|BFTkNSWVBURUQg|BPUEVOU1NIIFBS|BEU0EgUFJJVkFUR)[A-Za-z0-9+/]{20,16384}={0,2}',
  },
  {
    id: 'putty-private-key',
    provider: 'PuTTY',
    literals: ['private-lines:'],
    pattern: 'Private-Lines: [0-9]{1,4}(?<secret>(?:(?:\\r?\\n|\\\\r?\\\\n|\\\\n)[A-Za-z0-9+/=]{4,80}){1,400})',
  },
  {
    id: 'netrc',
    provider: 'netrc',
    literals: ['login', 'machine', 'account'],
    anyCase: true,
    pattern:
      '(?:login|machine|account)[ \\t]{1,8}[^\\s"\'\\\\]{1,128}(?:(?:\\s|\\\\n|\\\\t){1,8}(?:login|account)[ \\t]{1,8}[^\\s"\'\\\\]{1,128})?(?:\\s|\\\\n|\\\\t){1,8}password(?:\\s|\\\\n|\\\\t){1,8}(?<secret>[^\\s"\'\\\\]{3,256})',
  },
  {
    id: 'pgpass',
    provider: 'PostgreSQL',
    literals: [':5432:'],
    pattern: ':5432:[^\\s:"\'\\\\]{1,64}:[^\\s:"\'\\\\]{1,64}:(?<secret>[^\\s:"\'\\\\]{3,256})',
  },
  {
    id: 'sql-password',
    provider: 'SQL',
    literals: ['identified by', 'identified with'],
    anyCase: true,
    pattern: 'identified (?:by|with [a-z0-9_]{1,40} by) (?:password )?\\\\{0,3}[\'"](?<secret>[^\'"\\\\\\s]{3,256})',
  },
  {
    id: 'command-password',
    provider: 'command lines',
    literals: ['sshpass', 'mysql', 'mariadb', 'redis-cli', 'docker login', 'podman login', 'helm registry login'],
    pattern:
      '(?:sshpass -p ?|(?:mysql|mysqldump|mysqladmin|mariadb)(?= )[^\\n\\\\"\']{0,200}? -p(?=\\S)|redis-cli [^\\n\\\\"\']{0,200}?(?:-a|--pass) |(?:docker|podman|helm registry) login [^\\n\\\\"\']{0,200}?-p ?)\\\\{0,3}[\'"]?(?<secret>[^\\s"\'\\\\$<-][^\\s"\'\\\\]{2,128})',
  },
  {
    id: 'go-dsn',
    provider: 'Go MySQL driver',
    literals: ['@tcp(', '@unix('],
    pattern: '(?<=[\\w.-]{1,64}:(?<secret>[^\\s:"\'@\\\\/]{3,128}))@(?:tcp|unix)\\(',
  },
  {
    id: 'bearer',
    provider: 'RFC 6750',
    literals: ['bearer '],
    anyCase: true,
    pattern: 'bearer[ \\t]{1,4}(?<secret>[A-Za-z0-9._~+/-]{16,8192}={0,2})',
  },
];

/** `Authorization: <scheme> <credentials>`: a header, a `-H`, an entry of a JSON or source object, any scheme. */
const authorization: Detector = {
  id: 'authorization',
  literals: ['authorization'],
  detect(text, at) {
    const header = matchAt(authorizationHeader, text, at);
    if (header === null) return null;
    const from = at + header[0].length;
    const scheme = matchAt(authorizationScheme, text, from);
    const start = from + (scheme?.[0].length ?? 0);
    const credentials = matchAt(authorizationParameters, text, start) ?? matchAt(authorizationToken, text, start);
    if (credentials === null) return null;
    const value = credentials[0];
    if (isStandIn(value) || isStandIn(value.replace(/[,;)\]}]{1,3}$/, ''))) return null;
    const known =
      scheme !== null && /^(?:bearer|basic|token|digest|negotiate|ntlm|api-?key|aws4-hmac-sha256)\b/i.test(scheme[0]);
    if (isWordy(value) && !(known && /^[A-Za-z]{8,}$/.test(value) && header[0].includes(':'))) return null;
    return known || (looksRandom(value) && hasTokenSigns(value)) || /^[\w-]{1,30}=/.test(value)
      ? { start, end: start + value.length }
      : null;
  },
};

const authorizationHeader =
  /authorization(?:\\{0,7}["'`])?\]?[ \t]{0,4}(?:=>|:=|[:=,]|%3A)[ \t]{0,4}\[?(?:[rbuf]{0,2}\\{0,7}["'`])?[ \t]{0,2}/iy;
const authorizationScheme = /[A-Za-z][A-Za-z0-9-]{1,30}(?:[ \t]{1,4}|%20)(?=[^\s"'`\\])/y;
const authorizationParameters =
  /[\w-]{1,30}=(?:\\{0,7}"[^"\\\n]{0,2048}\\{0,7}"|[^\s"'`\\,]{1,2048})(?:,[ \t]{0,4}[\w-]{1,30}=(?:\\{0,7}"[^"\\\n]{0,2048}\\{0,7}"|[^\s"'`\\,]{1,2048})){0,24}/y;
const authorizationToken = /[^\s"'`\\<>]{4,8192}/y;

/** `Cookie:` and `Set-Cookie:` with a value that somebody could present. */
const cookie: Detector = {
  id: 'cookie',
  literals: ['cookie: '],
  detect(text, at) {
    const pairs = matchAt(cookiePairs, text, at + 'cookie: '.length);
    if (pairs === null) return null;
    const start = at + 'cookie: '.length;
    const worthy = pairs[0]
      .split('; ')
      .some((pair) => looksRandom(pair.slice(pair.indexOf('=') + 1)) && pair.length >= 20);
    return worthy && !isStandIn(pairs[0]) ? { start, end: start + pairs[0].length } : null;
  },
};

const cookiePairs = /[\w.-]{1,80}=[^\s"'`\\;]{1,4096}(?:; [\w.-]{1,80}=[^\s"'`\\;]{1,4096}){0,40}/y;

/** `curl -u user:secret`. */
const commandUser: Detector = {
  id: 'command-user',
  literals: [' -u ', ' --user ', ' -u=', ' --user=', ' --proxy-user '],
  detect(text, at) {
    if (!/\b(?:curl|wget|http|https|xh)\b/.test(text.slice(Math.max(0, at - 300), at + 1))) return null;
    const option = matchAt(/ (?:-u|--user|--proxy-user)[ =]/y, text, at);
    if (option === null) return null;
    const from = at + option[0].length;
    const opening = openingAt(text, from);
    const span = (opening === null ? null : quoted(text, opening)) ?? bare(text, from);
    const value = text.slice(span.start, span.end);
    const colon = value.indexOf(':');
    if (colon === -1 || /\s/.test(value)) return null;
    const password = value.slice(colon + 1);
    return password.length < 3 || isStandInOfUrl(password) ? null : { start: span.start + colon + 1, end: span.end };
  },
};

export const placeDetectors: readonly Detector[] = [privateKey, authorization, cookie, urlUser, urlQuery, commandUser];
