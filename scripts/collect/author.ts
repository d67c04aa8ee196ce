import { sha256 } from '../shared/thread-id.ts';

export interface AuthorFacts {
  /** The laptop's own word; null: none. */
  readonly chosen: string | null;
  /** git's user.email; null: none. */
  readonly email: string | null;
  /** The memory repository's `.mailmap`. */
  readonly mailmap: string;
  /** The configuration's `people`: email → handle. */
  readonly people: Readonly<Record<string, string>>;
  readonly salt: string;
}

/**
 * What sessions call their author: the laptop's own word, else the handle that the team gave the email, else a pseudonym
 * that stays the same on this laptop. Never an email.
 */
export function authorOf({ chosen, email, mailmap, people, salt }: AuthorFacts): string {
  if (chosen !== null) return chosen;
  const known = properEmail((email ?? '').trim().toLowerCase(), mailmap);
  const handle = Object.entries(people).find(([entry]) => entry.trim().toLowerCase() === known)?.[1];
  return handle ?? `p-${sha256(`${salt} ${known}`).slice(0, 10)}`;
}

/**
 * The address that a mailmap gives for one, in lower case. Lines that ask for a name as well (`… Name <email>`) are
 * left out, as a laptop's settings may name anybody.
 */
export function properEmail(email: string, mailmap: string): string {
  const lines = mailmap.split(/\r?\n/).map((line) => line.replace(/#.*$/, ''));
  for (const line of lines) {
    const match = /^[^<>]{0,500}<([^<>]{1,320})>\s{0,20}<([^<>]{1,320})>\s{0,20}$/.exec(line);
    if (match?.[2]?.trim().toLowerCase() === email) return (match[1] ?? '').trim().toLowerCase();
  }
  return email;
}
