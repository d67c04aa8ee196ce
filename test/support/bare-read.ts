import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from './repository.ts';

/** A bare repository, read from beside it while others write to it. */
export interface BareReader {
  /** The oid that a ref holds; null where there is no such ref. */
  tip(ref: string): string | null;
  /** A file of a commit, named as git names it, without the space at its end; '' where there is none. */
  file(ref: string, path: string): string;
}

/** Refs are read as files, and each file of a commit once, since it never changes: a process costs more than either. */
export function bareReader(dir: string): BareReader {
  const files = new Map<string, string>();
  const tip = (ref: string) => tipIn(dir, ref);
  return {
    tip,
    file: (ref, path) => {
      if (!ref.startsWith('refs/')) return blobIn(dir, `${ref}:${path}`);
      const commit = tip(ref);
      if (commit === null) throw new Error(`${ref} is not there.`);
      const name = `${commit}:${path}`;
      const text = files.get(name) ?? blobIn(dir, name);
      files.set(name, text);
      return text;
    },
  };
}

function tipIn(dir: string, ref: string): string | null {
  const loose = join(dir, ref);
  const text = existsSync(loose) && lstatSync(loose).isFile() ? readFileSync(loose, 'utf8').trim() : packedIn(dir, ref);
  if (text === null || /^[0-9a-f]{40}$/.test(text)) return text;
  throw new Error(`${ref} holds ${text}`);
}

function packedIn(dir: string, ref: string): string | null {
  const packed = join(dir, 'packed-refs');
  const lines = existsSync(packed) ? readFileSync(packed, 'utf8').split('\n') : [];
  return lines.find((line) => line.endsWith(` ${ref}`))?.slice(0, -ref.length - 1) ?? null;
}

function blobIn(dir: string, name: string): string {
  const found = execFileSync('git', ['cat-file', '--batch'], {
    cwd: dir,
    env: { ...env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
    input: `${name}\n`,
    maxBuffer: 256 * 1024 * 1024,
  });
  const end = found.indexOf(0x0a);
  const [, type] = found.toString('utf8', 0, end).split(' ');
  if (type === 'missing') return '';
  if (type !== 'blob') throw new Error(`${name} is a ${type}`);
  return found.toString('utf8', end + 1).trimEnd();
}
