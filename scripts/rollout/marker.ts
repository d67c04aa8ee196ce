import type { Item } from './types.ts';

/** What recall puts around the memory that it gives to a session; readers take such text for the harness's. */
export const memoryOpen = '<commit-to-memory v="1">';
export const memoryClose = '</commit-to-memory>';

/** The first words of every session that this program starts itself: such a session is never read. */
export const ownRun = '<commit-to-memory v="1" run="own">';

/** Whether a session is one of ours: it says so before a person says anything. */
export function isOwnRun(items: readonly Pick<Item, 'who' | 'kind' | 'text'>[]): boolean {
  const words = items.filter(({ kind }) => kind === 'text');
  const first = words.findIndex(({ who }) => who === 'human');
  const start = first === -1 ? words : words.slice(0, first + 1);
  return start.some(({ text }) => text.trimStart().startsWith(ownRun));
}
