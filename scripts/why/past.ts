import type { CommitInfo, Repository } from '../git/types.ts';
import { day, isoTime, parseIsoTime } from '../shared/clock.ts';
import { MemoryError, UsageError } from '../shared/errors.ts';
import type { Oid } from '../shared/files.ts';
import { handbookPath } from '../workspace/layout.ts';
import { normaliseLine } from '../workspace/lines.ts';
import { type Removal, removalOf } from './fate.ts';
import type { MemoryLine } from './lines.ts';
import { mostCommits, type ReadVersion, readVersions, versionsOf } from './versions.ts';

/**
 * The commit that `--at` means: a date is the end of that day (UTC), a time is that second; else `HEAD` or a commit's
 * id, which may be cut to 7 digits.
 * @throws UsageError for what is neither; MemoryError where nothing of the history here is so old, or has that id.
 */
export async function commitAt(repository: Repository, head: Oid, text: string): Promise<CommitInfo> {
  if (text === 'HEAD') return repository.readCommit(head);
  const history = await repository.history(head, mostCommits);
  const time = parseIsoTime(text);
  if (time !== null) {
    const until = text.includes('T') ? time : time + day - 1;
    const found = history.find(({ at }) => at <= until);
    if (found !== undefined) return found;
    const first = history.at(-1);
    throw new MemoryError(
      `Nothing was believed at ${text}: the history here begins at ${isoTime(first?.at ?? 0)}.`,
      'Name a later date. Where the clone is shallow, fetch the rest: git fetch --unshallow',
    );
  }
  if (!/^[0-9a-f]{7,64}$/.test(text))
    throw new UsageError(`--at does not take “${text}”.`, 'It takes a date such as 2026-11-30, or a commit id.');
  const known = history.find(({ oid }) => oid.startsWith(text));
  if (known !== undefined) return known;
  if (text.length === head.length) return repository.readCommit(text);
  throw new MemoryError(
    `No commit ${text} in the first-parent history of HEAD.`,
    'Name the whole id where it stands on another branch: git rev-parse <commit>',
  );
}

/** A line of an earlier handbook, and how it went. */
export interface Gone {
  readonly line: MemoryLine;
  /** A commit in which it stands. */
  readonly at: CommitInfo;
  readonly removal: Removal;
}

/**
 * The line of the newest earlier handbook that says this. Versions are searched as plain text first.
 * @returns null where no version that is here does.
 */
export async function goneLine(repository: Repository, head: Oid, text: string): Promise<Gone | null> {
  const words = normaliseLine(text);
  const looked = words.split(' ').sort((a, b) => b.length - a.length)[0] ?? '';
  let newer: ReadVersion | null = null;
  for await (const older of readVersions(repository, handbookPath, versionsOf(repository, head, handbookPath))) {
    if (newer !== null && older.text.toLowerCase().includes(looked)) {
      const lines = older.lines();
      const line = lines.find((each) => each.words === words) ?? lines.find((each) => each.words.includes(words));
      if (line !== undefined)
        return { line, at: older.commit, removal: await removalOf(repository, line, older, newer) };
    }
    newer = older;
  }
  return null;
}
