import { join } from 'node:path';
import { byBinary } from '../shared/files.ts';
import { openFolder } from './journal-files.ts';
import { enough, type GrowingFile, growingFile } from './journal-growing.ts';
import { entryText, type JournalEntry, parseEntry, type ReadFolder, textOf } from './journal-records.ts';

/** The paid answers of a journal: lines of files that only grow, a new one for each process and whenever one is long. */
export interface Answers {
  /** As they stood when it was opened, rejected ones too. */
  readonly inherited: readonly JournalEntry[];
  /** Flushed to the disk before it returns. What is said later of a key holds. */
  add(entry: JournalEntry): Promise<void>;
  /** These alone stay. A process that is killed meanwhile loses none of them. */
  keep(entries: readonly JournalEntry[]): void;
}

/** @throws MemoryError when the folder cannot be made. @param problems gets a sentence for each file that is damaged. */
export function openAnswers(path: string, problems: string[]): Answers {
  const folder = openFolder(path);
  const inherited = readEntries(folder, problems);
  let number = folder.names().reduce((most, name) => Math.max(most, numberOf(name) ?? 0), 0);
  const newName = () => `${String(++number).padStart(digits, '0')}.jsonl`;
  let file: GrowingFile | null = null;
  return {
    inherited,
    async add(entry) {
      if (file === null || file.isOver()) file = growingFile(join(path, newName()));
      await file.add(entryText(entry));
    },
    keep(entries) {
      const old = folder.names();
      for (const text of inFiles(entries)) folder.writeNow(newName(), text);
      for (const name of old) folder.remove(name);
      file = null;
    },
  };
}

/**
 * The answers in binary order of key, of one key the usable one first. One answer a file, named after its key, is what a
 * shard's answers are put down as, and what earlier versions wrote. What is damaged is reported and left out.
 * @param largest characters of one answer; a longer one is damaged.
 */
export function readEntries(
  folder: ReadFolder,
  problems: string[],
  largest = Number.POSITIVE_INFINITY,
): JournalEntry[] {
  const usable = new Map<string, JournalEntry>();
  const rejected = new Map<string, JournalEntry>();
  const names = folder.names();
  for (const name of names.filter((each) => numberOf(each) === null)) {
    const entry = entryNamed(name, textOf(folder, name), largest);
    if (entry === null) problems.push(`The journal's answer ${name} is damaged and is left out.`);
    else if (entry.rejected === null) usable.set(entry.key, entry);
    else rejected.set(name, entry);
  }
  for (const name of names.filter((each) => numberOf(each) !== null)) {
    const entries = linesOf(textOf(folder, name)).map((line) => (line.length > largest ? null : parseEntry(line)));
    const sound = entries.filter((entry) => entry !== null);
    const damaged = entries.length - sound.length;
    if (damaged > 0) problems.push(`The journal's answers in ${name} are damaged; ${damaged} of them are left out.`);
    for (const entry of sound) {
      const { key, n } = entry;
      if (entry.rejected === null) usable.set(key, entry);
      else rejected.set(`${key} ${n}`, entry);
      if (entry.rejected !== null && usable.get(key)?.n === n) usable.delete(key);
    }
  }
  return [...usable.values(), ...rejected.values()].sort((a, b) => byBinary(a.key, b.key));
}

const digits = 6;

/** null for a file that does not grow. */
function numberOf(name: string): number | null {
  const number = /^(\d{6,9})\.jsonl$/.exec(name)?.[1];
  return number === undefined ? null : Number(number);
}

function entryNamed(name: string, text: string, largest: number): JournalEntry | null {
  const key = /^([0-9a-f]{64})(?:\.rejected-\d{1,9})?\.json$/.exec(name)?.[1];
  const entry = key === undefined || text.length > largest ? null : parseEntry(text);
  return entry?.key === key ? entry : null;
}

/** A line that was torn while it was written is one too. */
function linesOf(text: string): string[] {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function inFiles(entries: readonly JournalEntry[]): string[] {
  const files: string[][] = [];
  let bytes = enough;
  for (const text of entries.map(entryText)) {
    if (bytes >= enough) {
      files.push([]);
      bytes = 0;
    }
    files.at(-1)?.push(text);
    bytes += Buffer.byteLength(text);
  }
  return files.map((texts) => texts.join(''));
}
