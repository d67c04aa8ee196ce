import { basename } from 'node:path';
import type { EpochSeconds } from '../shared/clock.ts';
import { noteExit, withEvents, withExits, withoutSummaries } from './codex-events.ts';
import { type Envelope, envelopeOf, isKnown, skippableLabel } from './codex-lines.ts';
import { answersOf, argumentsOf, callOf, outputOf } from './codex-tools.ts';
import { agentWords, eventWords, messageWords } from './codex-words.ts';
import { type Fields, fieldsOf, textOf, timeOf } from './fields.ts';
import { itemList, type Part, unknownType } from './items.ts';
import { eachRecord } from './jsonl.ts';
import { newHash } from './lines.ts';
import { isOwnRun } from './marker.ts';
import { ignored, noneBeside, type Reader, type Reading, type ReadOptions } from './reader.ts';
import type { Thread } from './types.ts';

/**
 * Codex rollouts: `{timestamp, type, payload}` lines with or without `ordinal`, and the older ones that are the
 * response item itself under a header without `type`. Messages and calls come from response items; an event is used
 * only for what no response item says. What a compaction keeps is not read again, and its summary is nobody's words.
 */
export const codexReader: Reader = {
  agent: 'codex',
  sideFolders: false,
  endings: ['.jsonl'],
  filesBeside: noneBeside,
  read: readCodex,
};

async function readCodex(path: string, options: ReadOptions): Promise<Reading> {
  const notes = newNotes(options.home);
  const hash = newHash();
  const visitor = {
    list: notes.list,
    skippable: (line: Buffer) => {
      const label = skippableLabel(line);
      if (label !== null) notes.known += 1;
      return label;
    },
    record: (record: Fields, line: number) => takeRecord(record, line, notes),
  };
  const end = await eachRecord(path, hash, visitor, options.signal);
  if (end.bytes === 0) return ignored('empty');
  if (notes.known === 0) return ignored('not a Codex rollout');
  const { meta } = notes;
  const named = fromName(path);
  const id = textOf(meta.id) ?? textOf(meta.session_id) ?? named.id;
  if (id === null) return ignored('no session metadata, and the file name holds no id');
  const startedAt = timeOf(meta.timestamp) ?? named.at ?? notes.firstAt;
  if (startedAt === null) return ignored('no valid time');
  const git = fieldsOf(meta.git);
  const said = withoutSummaries(withExits(notes.list.items, notes.exits), notes.summaries);
  const parent = textOf(meta.forked_from_id);
  return {
    outcome: 'session',
    session: {
      id,
      origin: originOf(meta),
      kind: isOwnRun(notes.list.items) ? 'own' : kindOf(meta),
      cwd: textOf(meta.cwd) ?? notes.cwd,
      branch: textOf(git.branch),
      commit: textOf(git.commit_hash),
      remote: textOf(git.repository_url),
      startedAt,
      parents: parent === null || parent === id ? [] : [parent],
      source: { agent: 'codex', ...end, sha256: hash.digest('hex') },
      skipped: notes.list.counts(),
      items: withEvents(said, notes.events, options.home),
      injected: notes.list.injected(),
    },
  };
}

type Notes = ReturnType<typeof newNotes>;

function newNotes(home: string) {
  return {
    list: itemList(home),
    /** The first header's fields: a fork repeats its parent's header after its own. */
    meta: {} as Fields,
    hasMeta: false,
    cwd: null as string | null,
    firstAt: null as EpochSeconds | null,
    /** Records of a known type. */
    known: 0,
    summaries: [] as string[],
    exits: new Map<string, number>(),
    questions: new Map<string, Fields>(),
    events: [] as { line: number; at: EpochSeconds | null; found: Part }[],
  };
}

function takeRecord(record: Fields, line: number, notes: Notes): void {
  const envelope = envelopeOf(record);
  const at = timeOf(record.timestamp);
  notes.firstAt ??= at;
  if (!isKnown(envelope.label)) {
    notes.list.skip(unknownType(envelope.label));
    return;
  }
  notes.known += 1;
  notes.list.record(line, at);
  const found = foundIn(envelope, fieldsOf(record.metadata), notes);
  if (found.length === 0) {
    noteFacts(envelope, line, at, notes);
    notes.list.skip(envelope.label);
    return;
  }
  noteWords(found, notes);
  const taken = notes.list.parts();
  for (const [index, entry] of found.entries()) notes.list.add(taken + index + 1, entry);
}

function foundIn({ type, payload, label }: Envelope, metadata: Fields, notes: Notes): Part[] {
  if (type === 'inter_agent_communication' || label === 'response_item:agent_message') return agentWords(payload);
  if (type !== 'response_item') return [];
  if (payload.type === 'message') return messageWords(payload, metadata);
  const call = callOf(payload);
  if (call !== null) {
    if (call.tool === 'request_user_input' && call.call !== undefined)
      notes.questions.set(call.call, argumentsOf(payload));
    return [call];
  }
  const output = outputOf(payload);
  if (output === null) return [];
  const asked = output.call === undefined ? undefined : notes.questions.get(output.call);
  const answers = asked === undefined ? null : answersOf(payload.output, asked);
  return [answers === null ? output : { ...output, who: 'human', kind: 'text', text: answers }];
}

function noteFacts({ type, payload }: Envelope, line: number, at: EpochSeconds | null, notes: Notes): void {
  if (type === 'session_meta' && !notes.hasMeta) {
    notes.meta = payload;
    notes.hasMeta = true;
  }
  if (type === 'turn_context') notes.cwd ??= textOf(payload.cwd);
  if (type === 'compacted') notes.summaries.push(textOf(payload.message) ?? '');
  if (type !== 'event_msg') return;
  noteExit(payload, notes.exits);
  const words = eventWords(payload);
  if (words !== null) notes.events.push({ line, at, found: words });
}

function noteWords(found: readonly Part[], notes: Notes): void {
  for (const { who, kind, text } of found)
    if (kind === 'text' && who === 'harness') notes.cwd ??= /<cwd>([^<\n]{1,1000})<\/cwd>/.exec(text)?.[1] ?? null;
}

/** `rollout-2026-11-29T23-42-52-<uuid>.jsonl` */
function fromName(path: string): { id: string | null; at: EpochSeconds | null } {
  const match =
    /^rollout-(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/i.exec(
      basename(path),
    );
  if (match === null) return { id: null, at: null };
  const [, date, hours, minutes, seconds, id = null] = match;
  return { id, at: timeOf(`${date}T${hours}:${minutes}:${seconds}Z`) };
}

function originOf(meta: Fields): string {
  const source = textOf(meta.source) ?? textOf(fieldsOf(meta.source).custom);
  const originator = (textOf(meta.originator) ?? '').toLowerCase();
  if (originator.includes('sdk')) return 'sdk';
  if (source === 'vscode' || (source === null && originator.includes('vscode'))) return 'ide';
  if (source !== null) return source.toLowerCase().slice(0, 40);
  if (originator.includes('exec')) return 'exec';
  return originator === '' || originator.includes('cli') ? 'cli' : originator.slice(0, 40);
}

function kindOf(meta: Fields): Thread['kind'] {
  const source = fieldsOf(meta.source);
  const started = textOf(meta.thread_source) ?? 'user';
  if ('subagent' in source || 'sub_agent' in source || 'subAgent' in source || started !== 'user') return 'sub_agent';
  return meta.ephemeral === true ? 'ephemeral' : 'root';
}
