import { join } from 'node:path';
import { byBinary } from '../shared/files.ts';
import { sha256 } from '../shared/thread-id.ts';
import { openAnswers, readEntries } from './journal-answers.ts';
import { type JournalFolder, lookInto, openFolder } from './journal-files.ts';
import { openMarks } from './journal-marks.ts';
import {
  type Counts,
  countersFile,
  type JournalEntry,
  readCounts,
  readRows,
  recordVersion,
  rowsFile,
  underWay,
} from './journal-records.ts';
import { openSubmissions, type Submissions } from './journal-submissions.ts';
import { redactedReply } from './redacted-reply.ts';
import type { ModelReply, ModelRequest } from './types.ts';

/**
 * The paid answers of a night that is not yet committed, and the attempts that its process did not survive. One night
 * runs at a time: what stands there when a journal is opened is of a process that has ended.
 */
export interface Journal {
  /** What earlier processes have paid for, rejected answers too, in binary order of key. */
  readonly inherited: readonly JournalEntry[];
  /** What others paid for, such as a night's shards: key → answer. Each counts once it is asked for. */
  readonly offered: ReadonlyMap<string, JournalEntry>;
  /** Files that were left out because they are damaged, one sentence each. */
  readonly problems: readonly string[];
  find(key: string): ModelReply | null;
  /**
   * Written before it counts; what was offered for the key is no longer.
   * @returns the reply as it is recorded, secrets removed: the one to work with.
   */
  put(
    key: string,
    request: ModelRequest | Answered,
    reply: ModelReply,
    usd: number | null,
    how?: HowPaid,
  ): Promise<ModelReply>;
  /** The answer could not be used: it stays for the ledger, and the next one is asked for anew. */
  reject(key: string, why: string): Promise<void>;
  /** Before a request or a rollout is begun. */
  begin(subject: string, key: string): void;
  /** After it has ended in whatever way the process survived. */
  end(subject: string): void;
  /** Subject → processes that ended while it was under way. */
  diedAttempts(): ReadonlyMap<string, number>;
  /**
   * The run's row of the ledger tells everything that was paid for so far. Noted before anybody can see a state with that
   * row: whether a state has it says afterwards whether these answers still have to be told.
   */
  tell(run: string): void;
  /** Runs whose row, wherever it stands, tells an answer that was inherited. */
  toldBy(entry: JournalEntry): readonly string[];
  /** Batches that were about to be asked for; `clear` leaves them. */
  readonly submissions: Submissions;
  /**
   * All is committed and nothing under way: answers and marks go, and the counts of the settled subjects.
   * @param unfinished subjects that had to stop in the middle: their answers, and those offered for them, stay for the
   * night that goes on with them.
   */
  clear(settled: readonly string[], unfinished?: readonly string[]): void;
}

/** Of a batch's answer. */
export interface HowPaid {
  /** The caps counted it when it was asked for. */
  readonly prepaid: boolean;
  /** An earlier night has recorded its cost. */
  readonly accounted: boolean;
}

/** What of a request its answer is filed under. */
export type Answered = Pick<ModelRequest, 'purpose' | 'subject' | 'attempt'>;

/** In a journal, what was paid for. */
export const answersFolder = 'answers';
/** In a journal, answers that others paid for. */
export const offersFolder = 'offered';

/** What an answer depends on. */
export function journalKey(request: ModelRequest): string {
  const { purpose, subject, promptHash, model, attempt, messages, schema, tools, maxOutputTokens, effort } = request;
  const content = sha256(JSON.stringify([messages, schema, tools, maxOutputTokens, effort]));
  return sha256(JSON.stringify([purpose, subject, content, promptHash, model, attempt]));
}

/**
 * @param folder made where it is missing; its parents too.
 * @param redact removes secrets from a text, also from JSON's strings.
 * @throws MemoryError when it cannot be written.
 */
export function openJournal(folder: string, redact: (text: string) => string): Journal {
  const problems: string[] = [];
  const answers = openAnswers(join(folder, answersFolder), problems);
  const attempts = openFolder(join(folder, 'attempts'));
  const counters = openFolder(folder);
  const { inherited } = answers;
  const entries = new Map(inherited.filter((entry) => entry.rejected === null).map((entry) => [entry.key, entry]));
  const offered = new Map(
    readEntries(lookInto(join(folder, offersFolder)), problems)
      .filter(({ key }) => !entries.has(key))
      .map((entry) => [entry.key, entry]),
  );
  const offers = offered.size === 0 ? null : openFolder(join(folder, offersFolder));
  const withdraw = (key: string) => {
    if (offered.delete(key)) offers?.remove(`${key}.json`);
  };
  const counts = countDeaths(counters, attempts, problems);
  const marks = openMarks(attempts, counts.generation);
  const submissions = openSubmissions(folder, problems);
  const rows = readRows(counters, problems);
  let last = inherited.reduce((most, { n }) => Math.max(most, n), 0);

  return {
    inherited,
    offered,
    problems,
    find: (key) => entries.get(key)?.reply ?? null,
    async put(key, request, reply, usd, { prepaid, accounted } = { prepaid: false, accounted: false }) {
      const { purpose, subject, attempt } = request;
      const redacted = redactedReply(reply, redact);
      last += 1;
      const entry = {
        key,
        n: last,
        purpose,
        subject,
        attempt,
        usage: reply.usage,
        usd,
        reply: redacted,
        rejected: null,
        accounted,
        ...(prepaid && { prepaid }),
      };
      await answers.add(entry);
      entries.set(key, entry);
      withdraw(key);
      return redacted;
    },
    async reject(key, why) {
      const entry = entries.get(key);
      if (entry === undefined) return;
      entries.delete(key);
      await answers.add({ ...entry, rejected: redact(why) });
    },
    begin: marks.begin,
    end: marks.end,
    diedAttempts: () => counts.died,
    tell(run) {
      if (last === 0) return;
      rows.set(run, last);
      counters.writeNow(rowsFile, `${JSON.stringify({ version: recordVersion, rows: [...rows] })}\n`);
    },
    toldBy: ({ n }) => [...rows].filter(([, upTo]) => n <= upTo).map(([run]) => run),
    submissions,
    clear(settled, unfinished = []) {
      const kept = [...entries.values()].filter(({ subject }) => unfinished.includes(subject));
      answers.keep(kept.map((entry) => ({ ...entry, accounted: true })));
      for (const { key, subject } of [...offered.values()]) if (!unfinished.includes(subject)) withdraw(key);
      marks.remove();
      counters.remove(rowsFile);
      rows.clear();
      entries.clear();
      const known = settled.filter((subject) => counts.died.delete(subject));
      if (known.length > 0) counters.writeNow(countersFile, countersText(counts));
    },
  };
}

/** Turns what an earlier process left under way into counts: one for a subject, however many of its marks there are. */
function countDeaths(counters: JournalFolder, attempts: JournalFolder, problems: string[]): Counts {
  const before = readCounts(counters, problems);
  const names = attempts.names();
  if (names.length === 0) return before;
  for (const subject of underWay(attempts, before.generation, problems))
    before.died.set(subject, (before.died.get(subject) ?? 0) + 1);
  const counts = { generation: before.generation + 1, died: before.died };
  counters.writeNow(countersFile, countersText(counts));
  for (const name of names) attempts.remove(name);
  return counts;
}

function countersText(counts: Counts): string {
  const died = [...counts.died].sort(([a], [b]) => byBinary(a, b));
  return `${JSON.stringify({ version: recordVersion, generation: counts.generation, died })}\n`;
}
