import { copyFile, readFile } from 'node:fs/promises';
import { decodeUtf8 } from '../git/objects.ts';
import { isoTime } from '../shared/clock.ts';
import { MemoryError, messageOf } from '../shared/errors.ts';
import { type CopyChoice, laterCopy } from '../state/later-copy.ts';

/** The two copies as Git lays them out, absolute paths. What is kept has to stand in `ours` at the end. */
export interface Copies {
  readonly ours: string;
  readonly theirs: string;
  /** The path that is merged, for messages. */
  readonly path: string;
}

/**
 * Leaves the copy with the later night in `ours`, byte for byte.
 * @returns what was kept and why, as one line.
 * @throws MemoryError where both are damaged or one is newer than this program; `ours` is as it was, and Git says that
 *   it conflicts.
 */
export async function mergeCopies(copies: Copies): Promise<string> {
  const choice = await laterCopy(await textOf(copies.ours), await textOf(copies.theirs));
  if (choice.keep === null)
    throw new MemoryError(
      `Both copies of ${copies.path} are damaged: ours in line ${choice.faults.ours.line} (${choice.faults.ours.reason}), ` +
        `theirs in line ${choice.faults.theirs.line} (${choice.faults.theirs.reason}).`,
      `The conflict is left to you. Take the last good one: git show refs/memory/state:state.sqlite.json > ${copies.path}, ` +
        `or the one that git log --all --oneline -- ${copies.path} shows; then git add it.`,
    );
  if (choice.keep === 'theirs') await copyFile(copies.theirs, copies.ours);
  return `${copies.path}: kept ${choice.keep}, ${reasonOf(choice)}.`;
}

async function textOf(path: string): Promise<string> {
  try {
    return decodeUtf8(await readFile(path)) ?? noText;
  } catch (error) {
    throw new MemoryError(
      `${path} cannot be read: ${messageOf(error)}.`,
      'Git calls this program; see git help attributes.',
      {
        cause: error,
      },
    );
  }
}

/** Reads as damaged, as bytes that are no UTF-8 are. */
const noText = '\0';

function reasonOf(choice: Exclude<CopyChoice, { keep: null }>): string {
  switch (choice.because) {
    case 'equal':
      return 'since both are the same';
    case 'later_night':
      return `whose last night is the later one (${isoTime(choice.lastNight)})`;
    case 'later_tombstone':
      return 'which is of the same night and had something forgotten or shown again later';
    case 'order':
      return 'by their order, since both are of the same night';
    case 'damaged':
      return `since the other one is damaged in line ${choice.fault.line} (${choice.fault.reason})`;
  }
}
