import { messageOf } from '../shared/errors.ts';
import { parsedJson } from '../shared/json.ts';
import { at, countAt, listAt, textAt } from './at.ts';
import type { JournalFolder } from './journal-files.ts';
import type { Entry, Purpose } from './ledger.ts';
import type { ModelReply } from './types.ts';

/** What has been paid for. `rejected` says why an answer was of no use; it is never given again. */
export interface JournalEntry extends Omit<Entry, 'replayed' | 'toldBy'> {
  readonly key: string;
  /** Answers are numbered as they come, from 1; 0 where nobody has. */
  readonly n: number;
  readonly attempt: number;
  readonly reply: ModelReply;
  readonly rejected: string | null;
  /** A night that ended well has recorded its cost: whoever uses it again pays nothing. */
  readonly accounted: boolean;
}

/** Processes that ended while a subject was under way. */
export interface Counts {
  /** Counts up with each reckoning, so that a mark is never reckoned twice. */
  readonly generation: number;
  readonly died: Map<string, number>;
}

/** A folder that is only read. */
export type ReadFolder = Pick<JournalFolder, 'names' | 'read'>;

/** Of every file that is written. */
export const recordVersion = 1;
export const countersFile = 'died.json';
export const rowsFile = 'rows.json';

/** As it stands in its file. */
export function entryText(entry: JournalEntry): string {
  return `${JSON.stringify({ version: recordVersion, ...entry })}\n`;
}

/** Subject → deaths, as an earlier process counted them. */
export function readCounts(counters: ReadFolder, problems: string[]): Counts {
  if (!counters.names().includes(countersFile)) return { generation: 0, died: new Map() };
  const value = parsedJson(textOf(counters, countersFile));
  const generation = countAt(value, 'generation');
  const died = listAt(value, 'died').flatMap((pair): [string, number][] => {
    const [subject, count] = [textAt(pair, 0), countAt(pair, 1)];
    return subject === null || count === null ? [] : [[subject, count]];
  });
  if (generation === null) problems.push(`The journal's ${countersFile} is damaged and is left out.`);
  return { generation: generation ?? 0, died: new Map(died) };
}

/** Run → the last answer that its row of the ledger tells, and with it all before; the row may never have been saved. */
export function readRows(folder: ReadFolder, problems: string[]): Map<string, number> {
  if (!folder.names().includes(rowsFile)) return new Map();
  const value = parsedJson(textOf(folder, rowsFile));
  if (at(value, 'version') !== recordVersion)
    problems.push(`The journal's ${rowsFile} is damaged and is left out: what was paid for may count twice.`);
  const rows = listAt(value, 'rows').flatMap((pair): [string, number][] => {
    const [run, upTo] = [textAt(pair, 0), countAt(pair, 1)];
    return run === null || upTo === null ? [] : [[run, upTo]];
  });
  return new Map(rows);
}

/** Subjects that the marks show under way, each once. */
export function underWay(attempts: ReadFolder, generation: number, problems: string[]): Set<string> {
  return new Set(attempts.names().flatMap((name) => openMarks(name, textOf(attempts, name), generation, problems)));
}

/** What cannot be read is a text that is no record. */
export function textOf(folder: ReadFolder, name: string): string {
  try {
    return folder.read(name);
  } catch (thrown) {
    return `unreadable: ${messageOf(thrown)}`;
  }
}

/** null for what is damaged. */
export function parseEntry(text: string): JournalEntry | null {
  const value = parsedJson(text);
  const key = textAt(value, 'key');
  const purpose = purposeOf(at(value, 'purpose'));
  const subject = textAt(value, 'subject');
  const n = countAt(value, 'n') ?? 0;
  const attempt = countAt(value, 'attempt');
  const reply = parseReply(at(value, 'reply'));
  const usd = at(value, 'usd');
  const rejected = at(value, 'rejected');
  if (at(value, 'version') !== recordVersion || key === null || !/^[0-9a-f]{64}$/.test(key)) return null;
  if (purpose === null || subject === null || attempt === null || reply === null) return null;
  if (usd !== null && (typeof usd !== 'number' || !Number.isFinite(usd) || usd < 0)) return null;
  if (rejected !== null && typeof rejected !== 'string') return null;
  const accounted = at(value, 'accounted') === true;
  const prepaid = at(value, 'prepaid') === true;
  const entry = { key, n, purpose, subject, attempt, usage: reply.usage, usd, reply, rejected, accounted };
  return prepaid ? { ...entry, prepaid } : entry;
}

function purposeOf(value: unknown): Purpose | null {
  return value === 'phase1' || value === 'phase2' ? value : null;
}

function parseReply(value: unknown): ModelReply | null {
  const text = textAt(value, 'text');
  const model = textAt(value, 'model');
  const finish = finishes.find((each) => each === at(value, 'finish'));
  const [requests, input, cached, output] = ['requests', 'input', 'cached', 'output'].map((name) =>
    countAt(value, 'usage', name),
  );
  const calls = at(value, 'toolCalls');
  const toolCalls = listAt(value, 'toolCalls').flatMap((call) => {
    const [id, name, args] = [textAt(call, 'id'), textAt(call, 'name'), textAt(call, 'arguments')];
    return id === null || name === null || args === null ? [] : [{ id, name, arguments: args }];
  });
  if (text === null || model === null || finish === undefined) return null;
  if (!Array.isArray(calls) || toolCalls.length !== calls.length) return null;
  if (requests == null || input == null || cached == null || output == null) return null;
  const allowance = countAt(value, 'allowance');
  const usage = { requests, input, cached, output };
  return { text, toolCalls, finish, usage, model, ...(allowance === null ? {} : { allowance }) };
}

const finishes = ['stop', 'tool_calls', 'length', 'refusal'] as const;

/** Subjects that were begun more often than ended. A line that is damaged is reported and left out. */
function openMarks(name: string, text: string, generation: number, problems: string[]): string[] {
  const open = new Map<string, string>();
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  let damaged = 0;
  for (const line of lines) {
    const value = parsedJson(line);
    const [begun, ended, key] = [textAt(value, 'begin'), textAt(value, 'end'), textAt(value, 'key')];
    const subject = begun ?? ended;
    const mark = JSON.stringify([subject, key]);
    if (subject === null || key === null) damaged += 1;
    else if (ended !== null) open.delete(mark);
    else if ((countAt(value, 'generation') ?? 0) >= generation) open.set(mark, subject);
  }
  if (damaged > 0) problems.push(`The journal's marks in ${name} are damaged; ${damaged} of them are left out.`);
  return [...open.values()];
}
