import { basename } from 'node:path';
import type { EpochSeconds } from '../shared/clock.ts';
import { documentIn } from './document.ts';
import { type Fields, isFields, listOf, textOf, timeOf } from './fields.ts';
import { answersTools, callsTools, isMasked, isMessage, messageParts } from './gemini-messages.ts';
import { projectFilesOf, projectFolderOf } from './gemini-project.ts';
import { itemList, unknownType } from './items.ts';
import { eachRecord } from './jsonl.ts';
import { newHash } from './lines.ts';
import { isOwnRun } from './marker.ts';
import { ignored, type Reader, type Reading, type ReadOptions } from './reader.ts';
import { finalWords, type Spoken } from './turns.ts';
import type { Item, Rollout, Thread } from './types.ts';

/**
 * Gemini CLI sessions: a journal (0.61) in which the last record with an id counts and `$set` changes what stood before,
 * or one JSON object (older). A message has the number of the line on which it first stood; the order is that of these.
 * What a compression or `/rewind` takes from the model's sight was said, and stays.
 */
export const geminiReader: Reader = {
  agent: 'gemini',
  sideFolders: false,
  endings: ['.jsonl', '.json'],
  filesBeside: (path) => Promise.resolve(projectFilesOf(path)),
  read: readGemini,
};

async function readGemini(path: string, options: ReadOptions): Promise<Reading> {
  const notes = newNotes(options.home);
  const source = path.endsWith('.json') ? takeDocument(path, notes) : await takeJournal(path, notes, options.signal);
  if (typeof source === 'string') return ignored(source);
  const { header } = notes;
  const id = idOf(path, notes);
  if (id === null) return ignored(notGemini);
  const startedAt = timeOf(header.startTime) ?? notes.firstAt;
  if (startedAt === null) return ignored('no valid time');
  const items = itemsOf(notes);
  return {
    outcome: 'session',
    session: {
      id,
      origin: 'cli',
      kind: kindOf(header, items),
      cwd: projectFolderOf(path, textOf(header.projectHash)),
      branch: null,
      commit: null,
      remote: null,
      startedAt,
      parents: [],
      source: { agent: 'gemini', ...source },
      skipped: notes.list.counts(),
      items,
    },
  };
}

const notGemini = 'not a Gemini CLI session';

/** A message in its last form. */
interface Held {
  /** The record that it first stood in. */
  readonly line: number;
  /** Its first place in that record: a record that sets several messages holds them one after the other. */
  readonly place: number;
  readonly items: readonly Item[];
  readonly type: string;
  readonly spoken: Spoken | null;
  readonly isTurn: boolean;
}

type Notes = ReturnType<typeof newNotes>;

function newNotes(home: string) {
  return {
    list: itemList(home),
    header: {} as Fields,
    firstAt: null as EpochSeconds | null,
    messages: new Map<string, Held>(),
    /** The next free place of the record that is read. */
    free: { line: 0, place: 1 },
  };
}

type Source = Omit<Rollout['source'], 'agent'>;

async function takeJournal(path: string, notes: Notes, signal: AbortSignal | undefined): Promise<Source | string> {
  const hash = newHash();
  const visitor = {
    list: notes.list,
    skippable: () => null,
    record: (record: Fields, line: number) => takeRecord(record, line, notes),
  };
  const end = await eachRecord(path, hash, visitor, signal);
  return end.bytes === 0 ? 'empty' : { ...end, sha256: hash.digest('hex') };
}

function takeDocument(path: string, notes: Notes): Source | string {
  const document = documentIn(path);
  if (typeof document === 'string') return document === 'no JSON object' ? notGemini : document;
  notes.header = document.fields;
  if (document.isCut) notes.list.skip('bad_json');
  if (document.badText) notes.list.skip('bad_utf8');
  for (const [index, message] of document.messages.entries()) takeMessage(message, index + 1, notes);
  return { lines: document.messages.length, bytes: document.bytes, sha256: document.sha256 };
}

function takeRecord(record: Fields, line: number, notes: Notes): void {
  const set = isFields(record.$set) ? record.$set : null;
  const isHeader = textOf(record.sessionId) !== null && textOf(record.projectHash) !== null;
  if (set !== null || isHeader) {
    const { messages, ...fields } = set ?? record;
    notes.header = { ...notes.header, ...fields };
    for (const message of listOf(messages)) takeMessage(message, line, notes);
    if (listOf(messages).length === 0) notes.list.skip(set === null ? 'header' : '$set');
  } else if (typeof record.$rewindTo === 'string') notes.list.skip('$rewindTo');
  else takeMessage(record, line, notes);
}

function takeMessage(message: unknown, line: number, notes: Notes): void {
  const { list, messages } = notes;
  if (!isFields(message) || !isMessage(message)) {
    list.skip(isFields(message) ? unknownType(message.type) : 'bad_json');
    return;
  }
  const id = String(message.id);
  const before = messages.get(id);
  const at = timeOf(message.timestamp);
  notes.firstAt ??= at;
  const { line: first, place } = before ?? (notes.free.line === line ? notes.free : { line, place: 1 });
  const parts = messageParts(message);
  if (before === undefined) notes.free = { line, place: place + Math.max(parts.length, 1) };
  list.record(first, at);
  for (const [index, part] of parts.entries()) if (part !== null) list.add(place + index, { ...part, id });
  const now = list.items.splice(0);
  if (before !== undefined) list.skip('written_again');
  messages.set(id, {
    line: first,
    place,
    items: before === undefined ? now : together(before.items, now),
    type: String(message.type),
    spoken: message.type === 'gemini' ? { message: id, stop: null, calls: callsTools(message) } : null,
    isTurn: message.type === 'user' && !answersTools(message),
  });
}

/** The message as it is now, with the outputs that it had before they were masked. */
function together(before: readonly Item[], now: readonly Item[]): Item[] {
  return now.map((item) => {
    const earlier = isMasked(item.text) ? before.find(({ n }) => n === item.n) : undefined;
    return earlier ?? item;
  });
}

/** A journal whose header was lost is known by its messages and its file's name. */
function idOf(path: string, { header, messages }: Notes): string | null {
  const name = /^(session-[\dT-]{10,30}-[0-9a-f]{8})\.jsonl?$/.exec(basename(path))?.[1] ?? null;
  if (textOf(header.projectHash) === null && (messages.size === 0 || name === null)) return null;
  return textOf(header.sessionId) ?? name;
}

/** In the order in which they first stood. An output that its call holds is not read a second time. */
function itemsOf({ messages, list }: Notes): Item[] {
  const held = [...messages.values()].sort((a, b) => a.line - b.line || a.place - b.place);
  const answered = new Set(held.filter(({ spoken }) => spoken !== null).flatMap(({ items }) => callsAnswered(items)));
  for (const { items, type } of held) if (items.length === 0) list.skip(type);
  const kept = held.flatMap(({ items, spoken }) =>
    items.filter(({ kind, call }) => {
      const isTwice = spoken === null && kind === 'output' && call !== undefined && answered.has(call);
      if (isTwice) list.skip('output_again');
      return !isTwice;
    }),
  );
  const spoken = new Map(held.flatMap((one) => (one.spoken === null ? [] : [[one.line, one.spoken] as const])));
  return finalWords(
    kept,
    spoken,
    held.filter(({ isTurn }) => isTurn).map(({ line }) => line),
  );
}

/** Calls whose output stands beside them, also where a person gave it. */
function callsAnswered(items: readonly Item[]): string[] {
  return items.flatMap(({ kind, call }) => (kind !== 'call' && call !== undefined ? [call] : []));
}

function kindOf(header: Fields, items: readonly Item[]): Thread['kind'] {
  if (isOwnRun(items)) return 'own';
  return header.kind === 'subagent' ? 'sub_agent' : 'root';
}
