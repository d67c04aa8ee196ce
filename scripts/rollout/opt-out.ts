import { isOwnTool } from './memory-calls.ts';
import type { Item } from './types.ts';

/** A person who writes this in a session keeps all of it out of memory; a laptop may choose another word. */
export const optOutWord = '#no-memory';

/** Whether a person said the word, as a word of its own and in any case. */
export function optsOut(items: readonly Pick<Item, 'who' | 'kind' | 'text'>[], word = optOutWord): boolean {
  const wanted = word.toLowerCase();
  return items.some(({ who, kind, text }) => who === 'human' && kind === 'text' && holds(text.toLowerCase(), wanted));
}

/** Whether a session looked outside: what it read there nobody of the team has written. Our own tools do not count. */
export function usedOutside(items: readonly Pick<Item, 'does' | 'tool'>[]): boolean {
  return items.some(({ does, tool }) => does === 'web' || (does === 'mcp' && !isOwnTool(tool)));
}

function holds(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const [before = ' ', after = ' '] = [text[at - 1], text[at + word.length]];
    if (!/[\p{L}\p{N}_/#-]/u.test(before) && !/[\p{L}\p{N}_/-]/u.test(after)) return true;
  }
  return false;
}
