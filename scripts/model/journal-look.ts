import { join } from 'node:path';
import { answersFolder, offersFolder } from './journal.ts';
import { readEntries } from './journal-answers.ts';
import { lookInto } from './journal-files.ts';
import { readCounts, underWay } from './journal-records.ts';

/** What a night that died, or runs now, has left in its journal. */
export interface JournalLook {
  /** Paid answers that the next night will use, those of others too, and what they cost. */
  readonly answers: number;
  /** Paid answers that were of no use; they count against the caps. */
  readonly rejected: number;
  /** Input and output together. */
  readonly tokens: number;
  readonly usd: number;
  /** Subjects begun and not ended: of a running night, or of one that has just died. */
  readonly underWay: readonly string[];
  /** Subject → processes that ended while it was under way, by subject. */
  readonly died: ReadonlyMap<string, number>;
  readonly problems: readonly string[];
}

/** Reads a journal and leaves it as it is: nothing is counted, made or removed. */
export function lookAtJournal(folder: string): JournalLook {
  const problems: string[] = [];
  const entries = [answersFolder, offersFolder].flatMap((name) => readEntries(lookInto(join(folder, name)), problems));
  const { generation, died } = readCounts(lookInto(folder), problems);
  const rejected = entries.filter((entry) => entry.rejected !== null).length;
  return {
    answers: entries.length - rejected,
    rejected,
    tokens: entries.reduce((sum, { usage }) => sum + usage.input + usage.output, 0),
    usd: entries.reduce((sum, { usd }) => sum + (usd ?? 0), 0),
    underWay: [...underWay(lookInto(join(folder, 'attempts')), generation, problems)].sort(),
    died,
    problems,
  };
}
