import { type Link, linkAfter, type Name, nameAround } from './redact-links.ts';
import { nameLiterals, type SecretName, secretName } from './redact-names.ts';
import { bare, endsLine, matchAt, openingAt, quoted } from './redact-quotes.ts';
import type { Detector, Span } from './redact-types.ts';
import { hasTokenSigns, isCode, isMember, isNumber, isPath, isStandIn, isWordy, looksRandom } from './redact-values.ts';

/** `DB_PASSWORD=…`, `"apikey": "…"`, `--password …`, `secretKey := "…"`, `<password>…</password>`, on one line. */
export const assignments: Detector = {
  id: 'assignment',
  literals: nameLiterals,
  detect(text, at) {
    const name = nameAround(text, at);
    if (name === null) return null;
    const link = linkAfter(text, name);
    if (link === null) return null;
    const secret = secretName(name.text);
    return secret === null ? null : valueAt(text, name, link, secret);
  },
};

/** A value's first characters tell what it is. */
const judged = 256;

const prefix = /(?:[rbufRBUF@$]{1,2}(?=\\{0,7}["'`]))/y;
const scheme = /(?:Bearer|Basic|Token|ApiKey)[ \t]{1,4}/iy;

function valueAt(text: string, name: Name, link: Link, secret: SecretName): Span | null {
  const before = matchAt(prefix, text, link.start)?.[0] ?? '';
  const opening = openingAt(text, link.start + before.length) ?? urlQuoteAt(text, link.start);
  const inQuotes = opening === null ? null : quoted(text, opening);
  if (opening !== null && inQuotes !== null) {
    const start = inQuotes.start + (matchAt(scheme, text, inQuotes.start)?.[0].length ?? 0);
    const value = text.slice(start, Math.min(inQuotes.end, start + judged));
    return start < inQuotes.end && isQuotedSecret(value, name, link, secret) ? { start, end: inQuotes.end } : null;
  }
  if (opening === null && link.how === 'sql') return null;
  const from = opening?.start ?? link.start;
  const start = from + (matchAt(scheme, text, from)?.[0].length ?? 0);
  const whole = bare(text, start);
  const configured = isConfigured(text, name, link, whole.end);
  const end = configured ? fieldEnd(text, name, whole) : trimmed(text, whole);
  return start < end && isBareSecret(text.slice(start, Math.min(end, start + judged)), name, link, secret, configured)
    ? { start, end }
    : null;
}

/** `%22` opens a quoted value in a URL: the value then ends where a bare one does. */
function urlQuoteAt(text: string, at: number): { quote: string; depth: number; start: number } | null {
  return text.startsWith('%22', at) ? { quote: '%', depth: 0, start: at + 3 } : null;
}

/** A configuration's line: there a value may hold any sign and even be a plain word. */
function isConfigured(text: string, name: Name, link: Link, end: number): boolean {
  if (link.how === 'element') return text.startsWith('</', end);
  if (link.how === 'tight') return name.environment || name.flag || (name.leads && endsLine(text, end));
  return (
    link.how === 'colon' && name.environment && name.leads && endsLine(text, end) && !/[,;]/.test(text[end - 1] ?? '')
  );
}

/** `Server=…;Password=…;Database=…`: the next field begins after a semicolon. */
function fieldEnd(text: string, name: Name, value: Span): number {
  const next = text[name.start - 1] === ';' ? text.slice(value.start, value.end).indexOf(';') : -1;
  return next === -1 ? value.end : value.start + next;
}

/** Code and prose go on after the value: a comma, a bracket, a full stop. */
function trimmed(text: string, value: Span): number {
  const cut = text.slice(value.start, value.end).search(/[&,;](?=\w)|[,;:)\]}.!?]{1,8}$/);
  return cut === -1 ? value.end : value.start + cut;
}

function isQuotedSecret(value: string, name: Name, link: Link, secret: SecretName): boolean {
  if (isStandIn(value) || isPath(value) || isSameWord(value, name.text) || /:\/\//.test(value)) return false;
  if (/\s/.test(value)) return isPhrase(value, name.text) || (secret.kind === 'password' && isSpaced(value, link));
  if (link.how === 'list' && value.length < 12) return false;
  if (link.how === 'list' || link.how === 'words' || !secret.sure) return looksRandom(value) && !isCode(value);
  if (secret.kind === 'password')
    return (
      value.length >= (/^[a-z]+$/i.test(value) ? 6 : 4) && !isMember(value) && !(isNumber(value) && /[.x]/.test(value))
    );
  if (isNumber(value) || value.length < 8) return false;
  return looksRandom(value) || (!isWordy(value) && !isCode(value)) || (isWordy(value) && /^[a-z]{16,}$/i.test(value));
}

function isBareSecret(value: string, name: Name, link: Link, secret: SecretName, configured: boolean): boolean {
  if (isStandIn(value) || isPath(value) || isSameWord(value, name.text) || /:\/\//.test(value)) return false;
  if (configured) {
    if (/^-|\(\)?$/.test(value) || (isMember(value) && !name.environment) || isCall(value)) return false;
    if (secret.kind === 'password' && secret.sure) return value.length >= 4 && !/^0x[0-9A-F]{1,16}$/i.test(value);
    if (!secret.sure) return looksRandom(value);
    return value.length >= 8 && !isNumber(value) && !(isWordy(value) && !name.environment && !name.flag);
  }
  if (link.how === 'list' || link.how === 'element' || isCode(value) || isNumber(value)) return false;
  if (link.how === 'flag') {
    if (value.startsWith('-')) return false;
    return secret.kind === 'password'
      ? value.length >= 4 && !isNumber(value) && !/^[A-Z_]+$/.test(value)
      : looksRandom(value);
  }
  if (secret.kind === 'password' && secret.sure && link.how !== 'words')
    return value.length >= 6 && /[A-Za-z]/.test(value) && /[0-9!@#$%^&*]/.test(value) && !/^[a-z]+_?\d?$/i.test(value);
  return looksRandom(value) && hasTokenSigns(value);
}

/** `getpass()`, `$(pass show x)`, `os.environ[`, even under an upper-case name. */
function isCall(value: string): boolean {
  return (
    /^[A-Za-z_][\w.]{0,80}(?:\(.{0,200}\)?|\[.{0,200}\]?)[;,)]{0,3}$/.test(value) && /[)\][(][;,)]{0,3}$/.test(value)
  );
}

/** A word list (`correct horse battery staple`) is a secret only under a passphrase's name. */
function isPhrase(value: string, name: string): boolean {
  return /phrase|mnemonic/i.test(name) && /^[a-z]{2,12}(?: [a-z]{2,12}){3,24}$/.test(value);
}

/** `password="p@ss word1"`: few words, and signs that no sentence has. */
function isSpaced(value: string, link: Link): boolean {
  return (
    link.how !== 'list' &&
    link.how !== 'words' &&
    /^\S{2,40}(?: \S{2,40}){1,2}$/.test(value) &&
    /[\d@#$%^&*]/.test(value)
  );
}

/** `token=token`, `password: user_password`, `apiKey: 'apiKey2'`. */
function isSameWord(value: string, name: string): boolean {
  const word = value.replace(/[^A-Za-z]/g, '').toLowerCase();
  const own = name.replace(/[^A-Za-z]/g, '').toLowerCase();
  return word.length > 0 && (own.endsWith(word) || (own !== '' && word.endsWith(own) && isWordy(value)));
}
