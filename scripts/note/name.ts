import { type EpochSeconds, isoTime } from '../shared/clock.ts';

/** Characters of the words in a note's name. */
const slugLength = 48;

/**
 * `2026-11-30T08-15-00-use-pnpm.md`, from the note's first words.
 * @param text without secrets. @param count 2 and more tell apart what was noted in the same second.
 */
export function noteName(text: string, at: EpochSeconds, count: number): string {
  const words = slugOf(text) || 'note';
  return `${timeName(at)}-${count === 1 ? words : `${words}-${count}`}.md`;
}

/** `2026-11-30T08-15-00` */
export function timeName(at: EpochSeconds): string {
  return isoTime(at).slice(0, 19).replaceAll(':', '-');
}

/** a-z, 0-9 and single hyphens; '' where the text has none of these. */
export function slugOf(text: string, length = slugLength): string {
  return text
    .slice(0, 400)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, length)
    .replace(/-$/, '');
}
