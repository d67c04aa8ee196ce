import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { jsonFields } from '../shared/json.ts';
import { sha256 } from '../shared/thread-id.ts';
import type { Row } from './kept-row.ts';
import { newHash } from './lines.ts';
import type { Reader } from './reader.ts';
import { type Stamp, stampOf } from './stamp.ts';
import { wholeFile } from './whole-file.ts';

/** Where listings are kept from one run to the next. */
export interface ListingFolder {
  readonly folder: string;
  /** Changes whenever the code that reads sessions does. */
  readonly program: string;
  /** This process's alone; null where the last listing is used and none is written. */
  readonly token: string | null;
}

/** What the last listing under the same settings knew: while a session's files stay as they are, it need not be read. */
export interface Kept {
  look(path: string, reader: Reader): Promise<Look>;
  /** @param row what is known now, where that is not what was looked up; made only where it is written. */
  keep(look: Look, row?: () => Row): void;
  /** Writes what was kept since it was opened; what was not is gone. */
  end(): void;
  /** Leaves the last listing as it is. Does nothing after `end`. */
  drop(): void;
}

export interface Look {
  readonly name: string;
  readonly stamp: Stamp | null;
  /** Null where the files changed since, or nothing is known. */
  readonly line: string | null;
  readonly row: Row | null;
}

/** A listing that starts from nothing and leaves nothing. */
export const keptNowhere: Kept = {
  look: () => Promise.resolve({ name: '', stamp: null, line: null, row: null }),
  keep: () => undefined,
  end: () => undefined,
  drop: () => undefined,
};

const format = 'ctm-listing';
const version = 1;
const mostBytes = 64 * 1024 * 1024;
/** One for each set of settings; the one that was not used for longest goes first. */
const mostFiles = 8;
/** A file system's times may be as coarse as this, in milliseconds: what was written since is not told from what is written now. */
const settling = 2_000;
const hashDigits = 32;

/**
 * A file of lines, each for one session: hash of its path, stamp, row. It is a cache: where it is missing, damaged, of
 * another program or not writable, everything is read, and a file system's errors are nobody's.
 * @param settings all that a row depends on beside its session's files.
 */
export function openKept({ folder, program, token }: ListingFolder, settings: unknown): Kept {
  const key = sha256(JSON.stringify([version, program, settings])).slice(0, hashDigits);
  const path = join(folder, `${key}.jsonl`);
  const before = linesIn(path, key);
  let draft = token === null ? null : openDraft(folder, `${path}.${token}`);
  const lines = new Map<string, string>();
  let bytes = 0;
  let isChanged = false;
  const drop = () => {
    draft?.drop();
    draft = null;
  };
  return {
    async look(file, reader) {
      const stamp = draft === null && before.size === 0 ? null : await stampOf(file, reader);
      const name = sha256(`${reader.agent} ${file}`).slice(0, hashDigits);
      const line = stamp === null ? undefined : before.get(name);
      if (line === undefined || !line.startsWith(`${name} ${stamp?.key} `))
        return { name, stamp, line: null, row: null };
      return { name, stamp, line, row: JSON.parse(line.slice(2 * hashDigits + 2)) as Row };
    },
    keep({ name, stamp, line }, row) {
      if (draft === null || stamp === null || stamp.newest > draft.opened - settling) return;
      const next = row === undefined ? line : `${name} ${stamp.key} ${JSON.stringify(row())}`;
      if (next === null) return;
      const size = bytes + Buffer.byteLength(next) + 1 - Buffer.byteLength(lines.get(name) ?? '');
      if (size > mostBytes - 1024) return;
      bytes = size;
      isChanged ||= next !== line;
      lines.set(name, next);
    },
    end() {
      if (draft === null) return;
      if (isChanged || lines.size !== before.size) draft.becomes(path, textOf(key, [...lines.values()]));
      else draft.touch(path);
      drop();
    },
    drop,
  };
}

/** By the hash of the path; nothing of a file that is not whole. Whoever wrote a whole one was this program. */
function linesIn(path: string, key: string): Map<string, string> {
  const bytes = tried(() => wholeFile(path, mostBytes)) ?? Buffer.alloc(0);
  const start = bytes.indexOf('\n') + 1;
  const head = jsonFields(bytes.toString('utf8', 0, start));
  const body = bytes.subarray(start);
  if (head.format !== format || head.key !== key || head.sha256 !== newHash().update(body).digest('hex'))
    return new Map();
  const lines = body.toString('utf8').split('\n');
  return new Map(lines.filter((line) => line !== '').map((line) => [line.slice(0, hashDigits), line]));
}

function textOf(key: string, lines: readonly string[]): string {
  const body = lines.join('\n');
  return `${JSON.stringify({ format, key, sha256: sha256(body) })}\n${body}`;
}

/** The next listing while it is made, beside the last one. */
interface Draft {
  /** By the clock of its file system, in milliseconds since 1970: nothing was looked at before. */
  readonly opened: number;
  becomes(path: string, text: string): void;
  /** The last one is as good: it was used again. */
  touch(path: string): void;
  drop(): void;
}

function openDraft(folder: string, draft: string): Draft | null {
  return tried(() => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = openSync(draft, 'wx', 0o600);
    const opened = fstatSync(file).mtimeMs;
    return {
      opened,
      becomes: (path, text) => {
        tried(() => {
          const bytes = Buffer.from(text);
          for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
          renameSync(draft, path);
          sweep(folder);
        });
      },
      touch: (path) => {
        tried(() => utimesSync(path, opened / 1_000, opened / 1_000));
      },
      drop: () => {
        tried(() => closeSync(file));
        tried(() => rmSync(draft, { force: true }));
      },
    };
  });
}

/** Removes listings, and drafts of who died, that nobody used for longest. */
function sweep(folder: string): void {
  const own = readdirSync(folder)
    .filter((name) => /^[0-9a-f]{32}\.jsonl(?:\.|$)/.test(name))
    .map((name) => join(folder, name));
  const dated = own.flatMap((path) => {
    const found = statSync(path, { throwIfNoEntry: false });
    return found === undefined ? [] : [{ path, used: found.mtimeMs }];
  });
  for (const { path } of dated.sort((a, b) => b.used - a.used).slice(mostFiles)) rmSync(path, { force: true });
}

/** Null where the file system says no. */
function tried<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}
