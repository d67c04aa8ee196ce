import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../shared/errors.ts';
import { answersFolder, type Journal, offersFolder, openJournal } from './journal.ts';
import { openAnswers, readEntries } from './journal-answers.ts';
import { lookInto, openFolder } from './journal-files.ts';
import { type JournalEntry, readCounts, readRows } from './journal-records.ts';
import { labelFile, labelText, parseLabel, type ShardLabel } from './shard-label.ts';
import type { Nights } from './shard-offers.ts';

/** What the night's own journal holds before its shards begin. */
export interface Known {
  /** Paid answers: nobody asks for them again. */
  readonly answers: ReadonlyMap<string, JournalEntry>;
  /** What counts against this night's allowance already, answers that were of no use too. */
  readonly spent: readonly JournalEntry[];
  /** Subject → processes that ended while it was under way. */
  readonly died: ReadonlyMap<string, number>;
}

/** Reads the night's journal and leaves it as it is. @param isSaved whether the ledger has a run's row. */
export function knownTo(journal: string, isSaved: (run: string) => boolean, problems: string[]): Known {
  const own = readEntries(lookInto(join(journal, answersFolder)), problems);
  const offered = readEntries(lookInto(join(journal, offersFolder)), problems);
  const rows = [...readRows(lookInto(journal), problems)].filter(([run]) => isSaved(run));
  const told = Math.max(-1, ...rows.map(([, upTo]) => upTo));
  const usable = [...offered, ...own.filter(({ rejected }) => rejected === null)];
  return {
    answers: new Map(usable.map((entry) => [entry.key, entry])),
    spent: [...own.filter(({ n }) => n > told), ...offered].filter(
      ({ accounted, prepaid }) => !accounted && prepaid !== true,
    ),
    died: readCounts(lookInto(journal), problems).died,
  };
}

/**
 * The journal that a shard writes. It is continued where it is of this shard; what no night will ask for any more has been
 * replayed or given up, and goes.
 * @throws UsageError for a folder that holds something else.
 */
export function openShardJournal(
  folder: string,
  label: ShardLabel,
  nights: Nights,
  known: Known,
  redact: (text: string) => string,
): Journal {
  const before = labelIn(folder);
  if (before === null && existsSync(folder) && holdsOther(folder)) {
    throw new UsageError(
      `${folder} is no folder for a shard’s journal: something else is there.`,
      'Name one that is empty or not there yet: --journal <dir>.',
    );
  }
  if (before !== null && before !== labelText(label)) leaveOutOld(folder, before, label, nights);
  openFolder(folder).writeNow(labelFile, labelText(label));
  const journal = openJournal(folder, redact);
  const died = new Map(known.died);
  for (const [subject, count] of journal.diedAttempts()) died.set(subject, (died.get(subject) ?? 0) + count);
  return {
    ...journal,
    find: (key) => journal.find(key) ?? known.answers.get(key)?.reply ?? null,
    diedAttempts: () => died,
  };
}

/** What an earlier night of the same shard left stays as far as it is still of use. */
function leaveOutOld(folder: string, before: string, { shard }: ShardLabel, nights: Nights): void {
  const old = parseLabel(before);
  const isSame = old !== null && old.shard.index === shard.index && old.shard.count === shard.count;
  const isOfUse = isSame ? nights.get(old.night) : undefined;
  if (isOfUse === undefined) {
    for (const part of parts) rmSync(join(folder, part), { recursive: true, force: true });
    return;
  }
  const answers = openAnswers(join(folder, answersFolder), []);
  answers.keep(answers.inherited.filter(({ subject, rejected }) => rejected !== null || isOfUse(subject)));
}

/** All that a journal is made of, its label apart. */
const parts = [answersFolder, 'attempts', offersFolder, 'died.json'];

function labelIn(folder: string): string | null {
  const path = join(folder, labelFile);
  return existsSync(path) && statSync(path).isFile() ? readFileSync(path, 'utf8') : null;
}

function holdsOther(folder: string): boolean {
  return !statSync(folder).isDirectory() || readdirSync(folder).length > 0;
}
