import { textAt } from '../model/at.ts';
import type { Oid } from '../shared/files.ts';

/** An address that may be shown and linked: http(s), without user and password; else ''. */
export function urlAt(value: unknown, key: string): string {
  const text = textAt(value, key) ?? '';
  if (text.length > 500 || !/^https?:\/\/[\u0021-\u007e]+$/.test(text) || !URL.canParse(text)) return '';
  const url = new URL(text);
  return url.username === '' && url.password === '' ? url.href.replace(/\(/g, '%28').replace(/\)/g, '%29') : '';
}

export function oidAt(value: unknown, ...path: readonly string[]): Oid | null {
  const text = textAt(value, ...path) ?? '';
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text) ? text : null;
}

export function visibilityOf(word: string | null, isPrivate: boolean): 'public' | 'internal' | 'private' {
  if (word === 'public' || word === 'internal' || word === 'private') return word;
  return isPrivate ? 'private' : 'public';
}
