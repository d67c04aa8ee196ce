import { basename, dirname } from 'node:path';
import type { EpochSeconds } from '../shared/clock.ts';
import {
  abortIn,
  answerIn,
  assistantParts,
  callIn,
  filesEdited,
  outputIn,
  refusalIn,
  requestedCall,
  summaryIn,
  userWords,
} from './copilot-events.ts';
import { isSkippedType, skippableLabel } from './copilot-lines.ts';
import { nowhere, withContext } from './copilot-place.ts';
import { type Fields, fieldsOf, listOf, textOf, timeOf } from './fields.ts';
import { itemList, type Part, unknownType } from './items.ts';
import { eachRecord } from './jsonl.ts';
import { newHash } from './lines.ts';
import { isOwnRun } from './marker.ts';
import { ignored, noneBeside, type Reader, type Reading, type ReadOptions } from './reader.ts';
import { finalWords, type Spoken } from './turns.ts';
import type { Item, Thread } from './types.ts';

/**
 * Copilot CLI sessions, 1.0: `session-state/<id>/events.jsonl`, one event a line. A message holds the calls that it asks
 * for; an execution's start repeats them and counts only where no message had it. Events of sub-agents carry `agentId`.
 */
export const copilotReader: Reader = {
  agent: 'copilot',
  sideFolders: false,
  endings: ['.jsonl'],
  filesBeside: noneBeside,
  read: readCopilot,
};

async function readCopilot(path: string, options: ReadOptions): Promise<Reading> {
  const notes = newNotes(options.home);
  const hash = newHash();
  const visitor = {
    list: notes.list,
    skippable: skippableLabel,
    record: (record: Fields, line: number) => takeRecord(record, line, notes),
  };
  const end = await eachRecord(path, hash, visitor, options.signal);
  if (end.bytes === 0) return ignored('empty');
  const id = textOf(notes.start.sessionId) ?? idFromFolder(path);
  if (notes.known === 0 || id === null) return ignored('not a Copilot CLI session');
  const startedAt = timeOf(notes.start.startTime) ?? notes.firstAt;
  if (startedAt === null) return ignored('no valid time');
  const items = withEdits(finalWords(notes.list.items, notes.spoken, notes.turnStarts), notes.edits);
  return {
    outcome: 'session',
    session: {
      id,
      origin: originOf(notes.start),
      kind: kindOf(notes.start, items),
      ...notes.place,
      startedAt,
      parents: [],
      source: { agent: 'copilot', ...end, sha256: hash.digest('hex') },
      skipped: notes.list.counts(),
      injected: notes.list.injected(),
      items,
    },
  };
}

type Notes = ReturnType<typeof newNotes>;

function newNotes(home: string) {
  return {
    list: itemList(home),
    /** What the first start of the session says. */
    start: {} as Fields,
    place: nowhere,
    firstAt: null as EpochSeconds | null,
    /** Events that a session has and no other file. */
    known: 0,
    /** The model's messages, by line. */
    spoken: new Map<number, Spoken>(),
    /** Lines at which the person, or the program for them, spoke. */
    turnStarts: [] as number[],
    /** Ids of calls that are items already. */
    calls: new Set<string>(),
    /** Questions to the person, by call. */
    questions: new Map<string, string>(),
    edits: new Map<string, readonly string[]>(),
  };
}

function takeRecord(record: Fields, line: number, notes: Notes): void {
  const type = textOf(record.type) ?? '';
  const data = fieldsOf(record.data);
  const at = timeOf(record.timestamp);
  notes.list.record(line, at);
  const isSide = textOf(record.agentId) !== null || textOf(data.parentToolCallId) !== null;
  const found = foundIn(type, data, line, isSide, notes);
  if (found === null) {
    if (type === 'hook.end') notes.list.inject(textOf(fieldsOf(data.output).additionalContext) ?? '');
    notes.list.skip(isSkippedType(type) ? type : unknownType(record.type));
    return;
  }
  notes.known += 1;
  notes.firstAt ??= at;
  const before = notes.list.items.length;
  const taken = notes.list.parts();
  const id = textOf(record.id);
  for (const [index, part] of found.entries()) notes.list.add(taken + index + 1, id === null ? part : { ...part, id });
  if (notes.list.items.length === before) notes.list.skip(type);
}

/** Null for an event that is known to give no item, or not known at all. */
function foundIn(type: string, data: Fields, line: number, isSide: boolean, notes: Notes): Part[] | null {
  switch (type) {
    case 'session.start':
      if (textOf(notes.start.sessionId) === null) notes.start = data;
      notes.place = withContext(notes.place, fieldsOf(data.context));
      return [];
    case 'session.resume':
      notes.place = withContext(notes.place, fieldsOf(data.context));
      return [];
    case 'session.context_changed':
      notes.place = withContext(notes.place, data);
      return [];
    case 'user.message':
      if (isSide) return [{ who: 'other_agent', kind: 'text', text: textOf(data.content) ?? '' }];
      notes.turnStarts.push(line);
      return userWords(data);
    case 'assistant.message':
      return assistantFound(data, line, isSide, notes);
    case 'tool.user_requested':
      return noteCalls([requestedCall(data)], notes);
    case 'tool.execution_start':
      return notes.calls.has(textOf(data.toolCallId) ?? '') ? [] : noteCalls([callIn(data)], notes);
    case 'tool.execution_complete':
      return outputFound(data, isSide, notes);
    case 'permission.completed':
      return isSide ? [] : refusalIn(data);
    case 'abort':
      return abortIn(data);
    case 'session.compaction_complete':
      return summaryIn(data);
    default:
      return null;
  }
}

function assistantFound(data: Fields, line: number, isSide: boolean, notes: Notes): Part[] {
  const parts = assistantParts(data, isSide ? 'other_agent' : 'commentary');
  if (!isSide)
    notes.spoken.set(line, {
      message: textOf(data.apiCallId) ?? textOf(data.messageId) ?? String(line),
      stop: null,
      calls: parts.length > 1,
    });
  for (const request of listOf(data.toolRequests).map(fieldsOf)) {
    const question = request.name === 'ask_user' ? textOf(fieldsOf(request.arguments).question) : null;
    if (question !== null) notes.questions.set(textOf(request.toolCallId) ?? '', question);
  }
  return noteCalls(parts, notes);
}

function outputFound(data: Fields, isSide: boolean, notes: Notes): Part[] {
  const output = outputIn(data);
  const { call = '', text } = output;
  const files = filesEdited(data);
  if (files.length > 0) notes.edits.set(call, files);
  const asked = isSide ? undefined : notes.questions.get(call);
  const answer = asked === undefined ? null : answerIn(text, asked);
  if (answer === null) return [output];
  return [{ who: 'human', kind: 'text', text: answer, ...(call === '' ? {} : { call }) }];
}

function noteCalls(parts: Part[], notes: Notes): Part[] {
  for (const { call } of parts) if (call !== undefined) notes.calls.add(call);
  return parts;
}

/** What an execution says it changed belongs to its call. */
function withEdits(items: readonly Item[], edits: ReadonlyMap<string, readonly string[]>): Item[] {
  return items.map((item) => {
    const files = item.kind === 'call' && item.call !== undefined ? edits.get(item.call) : undefined;
    return files === undefined
      ? item
      : { ...item, files: [...new Set([...(item.files ?? []), ...files])].slice(0, 200) };
  });
}

function idFromFolder(path: string): string | null {
  const name = basename(dirname(path));
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name) ? name : null;
}

function originOf(start: Fields): string {
  const producer = (textOf(start.producer) ?? 'copilot-agent').toLowerCase();
  if (producer.includes('sdk')) return 'sdk';
  return producer === 'copilot-agent' ? 'cli' : producer.slice(0, 40);
}

/** What the program starts by itself beside a person's session is no session of theirs. */
function kindOf(start: Fields, items: readonly Item[]): Thread['kind'] {
  if (isOwnRun(items)) return 'own';
  return textOf(start.detachedFromSpawningParentSessionId) === null ? 'root' : 'sub_agent';
}
