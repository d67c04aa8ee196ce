import type { EpochSeconds } from '../shared/clock.ts';
import { type Document, documentIn } from './document.ts';
import { type Fields, fieldsOf, isFields, listOf, textOf, timeOf } from './fields.ts';
import { itemList, unknownType } from './items.ts';
import { isOwnRun } from './marker.ts';
import { assistantParts, interruptionIn, isTypedCommand, type Timed, userParts } from './opencode-parts.ts';
import { ignored, noneBeside, type Reader, type Reading, type ReadOptions } from './reader.ts';
import { finalWords, type Spoken } from './turns.ts';
import type { Item, Thread } from './types.ts';

/**
 * OpenCode sessions, 1.x: what `opencode export <id>` prints, one JSON object. Items are numbered by their message's
 * place in it, then by their place in the message.
 */
export const openCodeReader: Reader = {
  agent: 'opencode',
  sideFolders: false,
  endings: ['.json'],
  filesBeside: noneBeside,
  read: readOpenCode,
};

async function readOpenCode(path: string, { home, signal }: ReadOptions): Promise<Reading> {
  signal?.throwIfAborted();
  const document = documentIn(path);
  if (typeof document === 'string') return ignored(document === 'no JSON object' ? notOpenCode : document);
  const info = fieldsOf(document.fields.info);
  const id = textOf(info.id);
  if (id === null || !(document.isCut || Array.isArray(document.fields.messages))) return ignored(notOpenCode);
  const notes = newNotes(home);
  takeDocument(document, notes);
  const startedAt = timeOf(fieldsOf(info.time).created) ?? notes.firstAt;
  if (startedAt === null) return ignored('no valid time');
  const items = finalWords(notes.list.items, notes.spoken, notes.turnStarts);
  return {
    outcome: 'session',
    session: {
      id,
      origin: originOf(info),
      kind: kindOf(info, items),
      cwd: textOf(info.directory),
      branch: null,
      commit: null,
      remote: null,
      startedAt,
      parents: [],
      source: { agent: 'opencode', lines: document.messages.length, bytes: document.bytes, sha256: document.sha256 },
      skipped: notes.list.counts(),
      items,
    },
  };
}

const notOpenCode = 'not an OpenCode export';

type Notes = ReturnType<typeof newNotes>;

function newNotes(home: string) {
  return {
    list: itemList(home),
    firstAt: null as EpochSeconds | null,
    /** Ids of the person's messages that stand for a command that they ran. */
    typed: new Set<string>(),
    /** The model's messages, by number. */
    spoken: new Map<number, Spoken>(),
    /** Numbers of messages with which the person, or the program for them, spoke. */
    turnStarts: [] as number[],
  };
}

function takeDocument({ messages, isCut, badText }: Document, notes: Notes): void {
  if (isCut) notes.list.skip('bad_json');
  if (badText) notes.list.skip('bad_utf8');
  for (const [index, message] of messages.entries())
    if (isFields(message)) takeMessage(message, index + 1, notes);
    else notes.list.skip('bad_json');
}

function takeMessage(message: Fields, number: number, notes: Notes): void {
  const info = fieldsOf(message.info);
  const parts = listOf(message.parts);
  const at = timeOf(fieldsOf(info.time).created);
  const { role } = info;
  if (role !== 'user' && role !== 'assistant') {
    notes.list.skip(unknownType(role));
    return;
  }
  notes.firstAt ??= at;
  const isTyped = notes.typed.has(textOf(info.parentID) ?? '');
  if (role === 'user') {
    notes.turnStarts.push(number);
    if (isTypedCommand(parts)) notes.typed.add(textOf(info.id) ?? '');
  } else
    notes.spoken.set(number, { message: String(number), stop: textOf(info.finish), calls: isOnTheWay(info, parts) });
  const before = notes.list.items.length;
  let place = 1;
  for (const part of parts.map(fieldsOf)) {
    const found = role === 'user' ? userParts(part) : assistantParts(part, info.summary === true, isTyped);
    if (found === null) notes.list.skip(unknownType(part.type));
    place = addAll(found ?? [{ part: null }], place, number, at, textOf(part.id), notes);
  }
  addAll([{ part: interruptionIn(info) }], place, number, at, textOf(info.id), notes);
  if (notes.list.items.length === before) notes.list.skip(role);
}

/** @returns the next free place. */
function addAll(
  found: readonly Timed[],
  place: number,
  number: number,
  at: EpochSeconds | null,
  id: string | null,
  { list }: Notes,
): number {
  for (const [index, { part, time }] of found.entries()) {
    if (part === null) continue;
    list.record(number, timeOf(time) ?? at);
    list.add(place + index, id === null ? part : { ...part, id });
  }
  return place + found.length;
}

/** The model went on after this message, or was stopped in it. */
function isOnTheWay(info: Fields, parts: readonly unknown[]): boolean {
  return (
    info.finish === 'tool-calls' || info.error !== undefined || parts.some((part) => fieldsOf(part).type === 'tool')
  );
}

/** `opencode run` forbids its session to ask. */
function originOf({ permission }: Fields): string {
  const asksNothing = listOf(permission)
    .map(fieldsOf)
    .some((rule) => rule.permission === 'question' && rule.action === 'deny');
  return asksNothing ? 'exec' : 'cli';
}

function kindOf({ parentID }: Fields, items: readonly Item[]): Thread['kind'] {
  if (isOwnRun(items)) return 'own';
  return textOf(parentID) === null ? 'root' : 'sub_agent';
}
