import type * as Crypto from 'node:crypto';
import { createRequire } from 'node:module';

const base32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** The agent's own session id where it is plain, else `x-` and 16 hex digits of its sha256 (a path, an odd id). */
export function safeThreadId(id: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$/.test(id) ? id : hiddenThreadId(id);
}

/** An id that says nothing of the agent's own one. */
export function hiddenThreadId(id: string): string {
  return `x-${sha256(id).slice(0, 16)}`;
}

/** The id that evidence shows: the first 8 characters (40 bits) of the id's sha256 in lower-case base32. */
export function shortThreadId(threadId: string): string {
  let bits = crypto().createHash('sha256').update(threadId).digest().readUIntBE(0, 5);
  let short = '';
  for (let length = 0; length < 8; length += 1) {
    short = `${base32[bits % 32]}${short}`;
    bits = Math.floor(bits / 32);
  }
  return short;
}

/** Lower-case hexadecimal sha256 of a text's UTF-8 bytes. At once, where Node can: a hash in steps costs five times as much. */
export function sha256(text: string): string {
  const { hash, createHash } = crypto();
  return hash === undefined ? createHash('sha256').update(text).digest('hex') : hash('sha256', text);
}

/** 32 hexadecimal digits, at milliseconds a piece: of what somebody could guess. */
export function slowHash(text: string): string {
  return crypto().scryptSync(text, 'commit-to-memory', 16, { cost: 4096 }).toString('hex');
}

/** Node knows `hash` since 20.12. */
type KnownCrypto = Omit<typeof Crypto, 'hash'> & Partial<Pick<typeof Crypto, 'hash'>>;

let loaded: KnownCrypto | undefined;

/** Loaded when it is first needed: a hook that hashes nothing starts a fifth sooner. */
function crypto(): KnownCrypto {
  loaded ??= createRequire(import.meta.url)('node:crypto') as KnownCrypto;
  return loaded;
}
