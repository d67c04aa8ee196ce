import { basename } from 'node:path';
import type { EpochSeconds } from '../shared/clock.ts';
import { type Fields, fieldsOf, textOf, timeOf } from './fields.ts';
import { headOf, mayHoldMore } from './head.ts';
import { itemList, type Part, unknownType } from './items.ts';
import { eachRecord } from './jsonl.ts';
import { newHash } from './lines.ts';
import { isOwnRun } from './marker.ts';
import { contentText, harness, isOnTheWay, messageParts } from './pi-messages.ts';
import { ignored, noneBeside, type Reader, type Reading, type ReadOptions } from './reader.ts';
import { finalWords, type Spoken } from './turns.ts';

/**
 * pi sessions, versions 1 to 3: a header and entries that form a tree by `parentId`. Every branch is read, in the order
 * of the file, which is that of time: what a person said on a branch that they left was said as well.
 */
export const piReader: Reader = {
  agent: 'pi',
  sideFolders: false,
  endings: ['.jsonl'],
  filesBeside: noneBeside,
  read: readPi,
};

async function readPi(path: string, options: ReadOptions): Promise<Reading> {
  const notes = newNotes(options.home);
  const hash = newHash();
  const visitor = {
    list: notes.list,
    skippable: skippableLabel,
    record: (record: Fields, line: number) => takeRecord(record, line, notes),
  };
  const end = await eachRecord(path, hash, visitor, options.signal);
  if (end.bytes === 0) return ignored('empty');
  const id = textOf(notes.header.id) ?? idIn(path);
  if (notes.known === 0 || id === null) return ignored('not a pi session');
  const startedAt = timeOf(notes.header.timestamp) ?? notes.firstAt;
  if (startedAt === null) return ignored('no valid time');
  const parent = idIn(textOf(notes.header.parentSession) ?? '');
  return {
    outcome: 'session',
    session: {
      id,
      origin: 'cli',
      kind: isOwnRun(notes.list.items) ? 'own' : 'root',
      cwd: textOf(notes.header.cwd),
      branch: null,
      commit: null,
      remote: null,
      startedAt,
      parents: parent === null || parent === id ? [] : [parent],
      source: { agent: 'pi', ...end, sha256: hash.digest('hex') },
      skipped: notes.list.counts(),
      items: finalWords(notes.list.items, notes.spoken, notes.turnStarts),
    },
  };
}

type Notes = ReturnType<typeof newNotes>;

function newNotes(home: string) {
  return {
    list: itemList(home),
    header: {} as Fields,
    hasHeader: false,
    firstAt: null as EpochSeconds | null,
    /** Entries that a session has and no other file. */
    known: 0,
    /** The model's messages, by line. */
    spoken: new Map<number, Spoken>(),
    /** Lines at which the person, or the program for them, spoke. */
    turnStarts: [] as number[],
  };
}

/** Entries that say nothing that anybody said or did. */
const skippedTypes = new Set(['model_change', 'thinking_level_change', 'label', 'session_info', 'custom']);
const recordStart = Buffer.from('{"type":"');

function skippableLabel(line: Buffer): string | null {
  const { type } = headOf(line, '');
  return type !== null && skippedTypes.has(type) && !mayHoldMore(line, recordStart) ? type : null;
}

function takeRecord(record: Fields, line: number, notes: Notes): void {
  const type = textOf(record.type) ?? '';
  const message = fieldsOf(record.message);
  const at = timeOf(record.timestamp) ?? timeOf(message.timestamp);
  notes.list.record(line, at);
  if (type === 'session') {
    if (!notes.hasHeader) notes.header = record;
    notes.hasHeader = true;
    notes.known += textOf(record.id) === null ? 0 : 1;
    notes.list.skip('session');
    return;
  }
  const found = foundIn(type, record, message, line);
  if (found === null) {
    notes.list.skip(
      skippedTypes.has(type) ? type : unknownType(type === 'message' ? `message:${String(message.role)}` : type),
    );
    return;
  }
  notes.known += 1;
  notes.firstAt ??= at;
  if (message.role === 'user' || message.role === 'bashExecution') notes.turnStarts.push(line);
  if (message.role === 'assistant')
    notes.spoken.set(line, { message: String(line), stop: textOf(message.stopReason), calls: isOnTheWay(message) });
  const before = notes.list.items.length;
  const taken = notes.list.parts();
  const id = textOf(record.id);
  for (const [index, part] of found.entries())
    if (part !== null) notes.list.add(taken + index + 1, id === null ? part : { ...part, id });
  if (notes.list.items.length === before) notes.list.skip(type);
}

function foundIn(type: string, record: Fields, message: Fields, line: number): (Part | null)[] | null {
  switch (type) {
    case 'message':
      return messageParts(message, textOf(record.id) ?? String(line));
    case 'custom_message':
      return harness(contentText(record.content));
    case 'compaction':
    case 'branch_summary':
      return harness(textOf(record.summary) ?? '');
    default:
      return null;
  }
}

/** `2026-11-29T23-47-44-414Z_<uuid>.jsonl`, also at the end of another system's path. */
function idIn(path: string): string | null {
  const name = basename(path.replaceAll('\\', '/'));
  return /_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/i.exec(name)?.[1] ?? null;
}
