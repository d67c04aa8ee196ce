import type { EpochSeconds } from '../shared/clock.ts';
import type { Oid } from '../shared/files.ts';
import { GitError } from './errors.ts';
import type { CommitInfo, Signature } from './types.ts';

export interface CommitFields {
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  readonly message: string;
  readonly author: Signature;
  readonly at: EpochSeconds;
}

/** A commit object's bytes: author and committer are one, `+0000`, UTF-8, one LF at the end of the message. */
export function formatCommit({ tree, parents, message, author, at }: CommitFields): Buffer {
  const who = `${signature(author)} ${epoch(at)} +0000`;
  const lines = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), `author ${who}`, `committer ${who}`];
  return Buffer.from(`${lines.join('\n')}\n\n${messageText(message)}`);
}

/** @returns the committer's time; names, and messages in an encoding that is not known, as far as they can be read. */
export function parseCommit(oid: Oid, bytes: Buffer): CommitInfo & { readonly tree: Oid } {
  const end = bytes.indexOf('\n\n');
  const head = bytes.toString('utf8', 0, end < 0 ? bytes.length : end).split('\n');
  const field = (name: string): string | undefined =>
    head.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
  const author = /^(.*?) ?<([^>]*)>/.exec(field('author') ?? '');
  const at = /> (\d{1,15}) /.exec(field('committer') ?? '');
  return {
    oid,
    tree: field('tree') ?? '',
    parents: head.filter((line) => line.startsWith('parent ')).map((line) => line.slice(7)),
    message: end < 0 ? '' : decode(bytes.subarray(end + 2), field('encoding')),
    author: { name: author?.[1] ?? '', email: author?.[2] ?? '' },
    at: Number(at?.[1] ?? 0),
  };
}

function signature({ name, email }: Signature): string {
  if (name.trim() === '' || /[<>\0\r\n]/.test(name + email))
    throw new GitError(
      `The author ${JSON.stringify(`${name} <${email}>`)} cannot stand in a commit.`,
      'Set git.author in .github/memory.yml like this: Name <address@example.org>',
    );
  return `${name.trim()} <${email.trim()}>`;
}

function epoch(at: EpochSeconds): string {
  if (!Number.isSafeInteger(at) || at < 0)
    throw new GitError(`A commit cannot have the time ${at}.`, 'Set the clock to a time after 1970.');
  return String(at);
}

function messageText(message: string): string {
  if (message.includes('\0')) throw new GitError('A commit message holds a NUL character.', 'Leave it out.');
  return `${message.replace(/\r\n?/g, '\n').replace(/\n+$/, '')}\n`;
}

function decode(bytes: Buffer, encoding: string | undefined): string {
  try {
    return new TextDecoder(encoding ?? 'utf-8').decode(bytes);
  } catch (error) {
    if (error instanceof RangeError) return bytes.toString('utf8');
    throw error;
  }
}
