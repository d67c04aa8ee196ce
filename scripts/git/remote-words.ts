import { terminalText } from '../shared/escape.ts';
import { GitError } from './errors.ts';
import type { Address } from './remote-url.ts';

/** What proves to a server who we are. Held in closures only, so that no object shows it. */
export interface Credentials {
  /** The value of an `Authorization` header; null: none of ours. */
  readonly authorization: string | null;
  /** Makes what a server or program said safe to show: one line, at most 600 characters, without the secret. */
  words(text: string): string;
}

/** @throws GitError for a token that cannot stand in a header. */
export function credentialsOf(address: Address, token: string | undefined): Credentials {
  const given = token?.trim() ?? '';
  if (!/^[\u0021-\u007e]{0,8192}$/.test(given))
    throw new GitError(
      'The token for the remote holds spaces, line breaks or characters outside ASCII.',
      'Set its variable to the token alone.',
    );
  const secret = given || address.password;
  const pair = `${address.user || 'x-access-token'}:${secret}`;
  const basic = Buffer.from(pair).toString('base64');
  const hidden = [basic, pair, secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64')];
  if (address.user.length >= 16) hidden.push(address.user, encodeURIComponent(address.user));
  return {
    authorization: secret === '' || address.kind !== 'http' ? null : `Basic ${basic}`,
    words: (text) => shownWords(text, secret === '' ? hidden.slice(5) : hidden),
  };
}

function shownWords(text: string, hidden: readonly string[]): string {
  let safe = text.slice(0, 65_536);
  for (const part of hidden) if (part !== '') safe = safe.replaceAll(part, '[REDACTED_SECRET]');
  safe = safe.replace(/(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@'"]{1,2000}@/gi, '$1');
  const lines = safe.split(/[\r\n]{1,99}/).map((line) => terminalText(line.trim()).replace(/\s{2,}/g, ' '));
  const joined = lines.filter(Boolean).join('; ');
  return joined.length > 600 ? `${joined.slice(0, 599)}…` : joined;
}
