import { randomBytes } from 'node:crypto';

/** 32 hex digits that nobody can guess: without them a pseudonym would say who it is to anybody with a list of names. */
export function newSalt(): string {
  return randomBytes(16).toString('hex');
}
