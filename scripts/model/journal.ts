import { join } from 'node:path';
import { messageOf } from '../shared/errors.ts';
import { byBinary } from '../shared/files.ts';
import { sha256 } from '../shared/thread-id.ts';
import { at, countAt, listAt, parsedJson, textAt } from './at.ts';
import { type JournalFolder, openFolder } from './journal-files.ts';
import type { Entry, Purpose } from './ledger.ts';
import type { ModelReply, ModelRequest } from './types.ts';

/** What has been paid for. `rejected` says why an answer was of no use; it is never given again. */
export interface JournalEntry extends Omit<Entry, 'replayed'> {
  readonly key: string;
  readonly attempt: number;
  readonly reply: ModelReply;
  readonly rejected: string | null;
}

/**
 * The paid answers of a night that is not yet committed, and the attempts that its process did not survive. One night
 * runs at a time: what stands there when a journal is opened is of a process that has ended.
 */
export interface Journal {
  /** What earlier processes have paid for, rejected answers too, in binary order of key. */
  readonly inherited: readonly JournalEntry[];
  /** Files that were left out because they are damaged, one sentence each. */
  readonly problems: readonly string[];
  find(key: string): ModelReply | null;
  /** Written before it counts. @returns the reply as it is recorded, secrets removed: the one to work with. */
  put(key: string, request: ModelRequest, reply: ModelReply, usd: number | null): Promise<ModelReply>;
  /** The answer could not be used: it stays for the ledger, and the next one is asked for anew. */
  reject(key: string, why: string): Promise<void>;
  /** Before a request or a rollout is begun. */
  begin(subject: string, key: string): void;
  /** After it has ended in whatever way the process survived. */
  end(subject: string, key: string): void;
  /** Subject → processes that ended while it was under way. */
  diedAttempts(): ReadonlyMap<string, number>;
  /** All is committed and nothing under way: answers and marks go, and the counts of the settled subjects. */
  clear(settled: readonly string[]): void;
}

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
  const answers = openFolder(join(folder, 'answers'));
  const attempts = openFolder(join(folder, 'attempts'));
  const counters = openFolder(folder);
  const inherited = readEntries(answers, problems);
  const entries = new Map(inherited.filter((entry) => entry.rejected === null).map((entry) => [entry.key, entry]));
  const counts = countDeaths(counters, attempts, problems);
  const marks = `${counts.generation}.jsonl`;
  const mark = (what: 'begin' | 'end', subject: string, key: string) =>
    attempts.append(marks, `${JSON.stringify({ generation: counts.generation, [what]: subject, key })}\n`);
  let rejections = inherited.length;

  return {
    inherited,
    problems,
    find: (key) => entries.get(key)?.reply ?? null,
    async put(key, request, reply, usd) {
      const { purpose, subject, attempt } = request;
      const redacted = redactedReply(reply, redact);
      const entry = { key, purpose, subject, attempt, usage: reply.usage, usd, reply: redacted, rejected: null };
      await answers.write(`${key}.json`, lineOf(entry));
      entries.set(key, entry);
      return redacted;
    },
    async reject(key, why) {
      const entry = entries.get(key);
      if (entry === undefined) return;
      entries.delete(key);
      await answers.write(`${key}.json`, lineOf({ ...entry, rejected: redact(why) }));
      answers.rename(`${key}.json`, `${key}.rejected-${++rejections}.json`);
    },
    begin: (subject, key) => mark('begin', subject, key),
    end: (subject, key) => mark('end', subject, key),
    diedAttempts: () => counts.died,
    clear(settled) {
      for (const name of answers.names()) answers.remove(name);
      attempts.remove(marks);
      entries.clear();
      const known = settled.filter((subject) => counts.died.delete(subject));
      if (known.length > 0) counters.writeNow(countersFile, countersText(counts));
    },
  };
}

interface Counts {
  /** Counts up with each reckoning, so that a mark is never reckoned twice. */
  readonly generation: number;
  readonly died: Map<string, number>;
}

const version = 1;
const countersFile = 'died.json';

function lineOf(entry: JournalEntry): string {
  return `${JSON.stringify({ version, ...entry })}\n`;
}

function readEntries(answers: JournalFolder, problems: string[]): JournalEntry[] {
  return answers.names().flatMap((name) => {
    const key = /^([0-9a-f]{64})(?:\.rejected-\d{1,9})?\.json$/.exec(name)?.[1];
    const entry = key === undefined ? null : parseEntry(textOf(answers, name), key);
    if (entry === null) problems.push(`The journal's answer ${name} is damaged and is left out.`);
    return entry === null ? [] : [entry];
  });
}

function textOf(folder: JournalFolder, name: string): string {
  try {
    return folder.read(name);
  } catch (thrown) {
    return `unreadable: ${messageOf(thrown)}`;
  }
}

function parseEntry(text: string, key: string): JournalEntry | null {
  const value = parsedJson(text);
  const purpose = purposeOf(at(value, 'purpose'));
  const subject = textAt(value, 'subject');
  const attempt = countAt(value, 'attempt');
  const reply = parseReply(at(value, 'reply'));
  const usd = at(value, 'usd');
  const rejected = at(value, 'rejected');
  if (at(value, 'version') !== version || at(value, 'key') !== key) return null;
  if (purpose === null || subject === null || attempt === null || reply === null) return null;
  if (usd !== null && (typeof usd !== 'number' || !Number.isFinite(usd) || usd < 0)) return null;
  if (rejected !== null && typeof rejected !== 'string') return null;
  return { key, purpose, subject, attempt, usage: reply.usage, usd, reply, rejected };
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

/** Turns what an earlier process left under way into counts: one for a subject, however many of its marks there are. */
function countDeaths(counters: JournalFolder, attempts: JournalFolder, problems: string[]): Counts {
  const before = readCounts(counters, problems);
  const names = attempts.names();
  const subjects = names.flatMap((name) => underWay(name, textOf(attempts, name), before.generation, problems));
  if (names.length === 0) return before;
  for (const subject of new Set(subjects)) before.died.set(subject, (before.died.get(subject) ?? 0) + 1);
  const counts = { generation: before.generation + 1, died: before.died };
  counters.writeNow(countersFile, countersText(counts));
  for (const name of names) attempts.remove(name);
  return counts;
}

/** Subjects that were begun more often than ended. A line that is damaged is reported and left out. */
function underWay(name: string, text: string, generation: number, problems: string[]): string[] {
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

function readCounts(counters: JournalFolder, problems: string[]): Counts {
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

function countersText(counts: Counts): string {
  const died = [...counts.died].sort(([a], [b]) => byBinary(a, b));
  return `${JSON.stringify({ version, generation: counts.generation, died })}\n`;
}

function redactedReply(reply: ModelReply, redact: (text: string) => string): ModelReply {
  return {
    ...reply,
    text: redactedText(reply.text, redact),
    toolCalls: reply.toolCalls.map((call) => ({ ...call, arguments: redactedText(call.arguments, redact) })),
  };
}

/** JSON is redacted in its strings first, where a secret stands without escapes, then as it is written. */
function redactedText(text: string, redact: (text: string) => string): string {
  const value = /^\s{0,99}[{[]/.test(text) ? parsedJson(text) : undefined;
  if (value === undefined) return redact(text);
  const clean = JSON.stringify(redactedValue(value, redact));
  return redact(clean === JSON.stringify(value) ? text : clean);
}

function redactedValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((part) => redactedValue(part, redact));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, redactedValue(part, redact)]));
}
