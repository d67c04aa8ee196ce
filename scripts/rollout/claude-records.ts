import type { EpochSeconds } from '../shared/clock.ts';
import { contextsOf } from './claude-context.ts';
import { isSkippedAttachment, isSkippedType } from './claude-lines.ts';
import { persistedText } from './claude-side.ts';
import { callOf, callsTool, outputOf, persistedName } from './claude-tools.ts';
import { answerWords, queuedWords, refusalWords, userWords } from './claude-words.ts';
import { type Fields, fieldsOf, listOf, textOf, timeOf } from './fields.ts';
import { type ItemList, type Part, unknownType } from './items.ts';
import type { Spoken } from './turns.ts';

/** What the records of one file have told so far. */
export type Notes = ReturnType<typeof newNotes>;

/**
 * @param folder of the session's large outputs.
 * @param isSide whether it is a sub-agent's file: none of its words are a person's.
 */
export function newNotes(items: ItemList, folder: string, isSide: boolean) {
  return {
    items,
    folder,
    isSide,
    sessionId: null as string | null,
    entrypoint: null as string | null,
    cwd: null as string | null,
    branch: null as string | null,
    firstAt: null as EpochSeconds | null,
    /** Records of a known type. */
    known: 0,
    /** Some record belongs to the main conversation. */
    hasMain: false,
    parents: new Set<string>(),
    /** The model's texts: which message they belong to and why it ended. */
    spoken: new Map<number, Spoken>(),
    /** Line numbers at which the person, or the program for them, spoke. */
    turnStarts: [] as number[],
    agentCalls: new Set<string>(),
    lastTyped: 0,
  };
}

/** What one line of a transcript says: into items, facts, and counts of what is passed over. */
export function takeRecord(record: Fields, line: number, notes: Notes): void {
  const type = textOf(record.type) ?? '';
  const at = timeOf(record.timestamp);
  notes.items.record(line, at);
  noteFacts(record, at, notes);
  if (type === 'assistant') {
    takeAssistant(record, line, notes);
    return;
  }
  if (type === 'user') {
    takeUser(record, line, notes);
    return;
  }
  if (type === 'attachment') {
    takeAttachment(record, line, notes);
    return;
  }
  if (type === 'system') {
    notes.known += 1;
    notes.items.skip(`system:${textOf(record.subtype)?.slice(0, 40) ?? '?'}`);
    return;
  }
  notes.items.skip(isSkippedType(type) ? type : unknownType(record.type));
}

function noteFacts(record: Fields, at: EpochSeconds | null, notes: Notes): void {
  const isTalk = record.type === 'user' || record.type === 'assistant' || record.type === 'attachment';
  if (!isTalk) return;
  notes.sessionId ??= textOf(record.sessionId);
  notes.firstAt ??= at;
  notes.entrypoint ??= textOf(record.entrypoint);
  notes.cwd ??= textOf(record.cwd);
  const branch = textOf(record.gitBranch);
  if (branch !== null && branch !== 'HEAD') notes.branch = branch;
  const parent = textOf(record.requestSessionId);
  if (parent !== null) notes.parents.add(parent);
  if (record.isSidechain !== true && record.type !== 'attachment') notes.hasMain = true;
}

function takeAssistant(record: Fields, line: number, notes: Notes): void {
  notes.known += 1;
  const message = fieldsOf(record.message);
  const isProgram = message.model === '<synthetic>' || record.isApiErrorMessage === true;
  const blocks =
    typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : listOf(message.content);
  const who = notes.isSide || record.isSidechain === true ? 'other_agent' : isProgram ? 'harness' : 'commentary';
  const found: (Part | null)[] = blocks.map((block) => assistantFound(fieldsOf(block), who));
  if (who === 'commentary')
    notes.spoken.set(line, {
      message: textOf(message.id) ?? String(line),
      stop: textOf(message.stop_reason),
      calls: callsTool(blocks),
    });
  for (const entry of found)
    if (entry?.tool === 'Agent' || entry?.tool === 'Task') notes.agentCalls.add(entry.call ?? '');
  addAll(found, record, notes, 'assistant');
}

function assistantFound(block: Fields, who: Part['who']): Part | null {
  if (block.type === 'tool_use' || block.type === 'server_tool_use') return callOf(block);
  if (block.type === 'text') return { who, kind: 'text', text: textOf(block.text) ?? '' };
  return null;
}

function takeUser(record: Fields, line: number, notes: Notes): void {
  notes.known += 1;
  const blocks = listOf(fieldsOf(record.message).content);
  const results = blocks.map((block) => fieldsOf(block)).filter((block) => block.type === 'tool_result');
  const found = results.flatMap((block) => resultFound(block, record, notes));
  const words = userWords(record).map((entry) => asSaid(entry, record, line, notes));
  if (words.length > 0 && results.length === 0) notes.turnStarts.push(line);
  addAll(
    [...found.filter((entry) => entry.who !== 'human'), ...words, ...found.filter((entry) => entry.who === 'human')],
    record,
    notes,
    'user',
  );
}

function resultFound(block: Fields, record: Fields, notes: Notes): Part[] {
  const output = outputOf(block);
  const name = persistedName(output.text, record.toolUseResult);
  const stored = name === null ? null : persistedText(notes.folder, name);
  const isAgent = output.call !== undefined && notes.agentCalls.has(output.call);
  const whole: Part = {
    ...output,
    who: isAgent ? 'other_agent' : 'tool',
    text: stored === null ? output.text : `${output.text.split('\n')[1]?.slice(0, 300) ?? ''}\n${stored}`,
  };
  const isSide = notes.isSide || record.isSidechain === true;
  const refusal = block.is_error === true && !isSide ? refusalWords(output.text) : null;
  const answers = isSide ? null : answerWords(record.toolUseResult);
  const said = refusal ?? answers;
  return said === null ? [whole] : [whole, { who: 'human', kind: 'text', text: said }];
}

/** A sub-agent's "user" is the agent that started it. A `!` command and what it printed are joined. */
function asSaid(found: Part, record: Fields, line: number, notes: Notes): Part {
  if (notes.isSide || record.isSidechain === true)
    return found.who === 'human' ? { who: 'other_agent', kind: 'text', text: found.text } : found;
  if (found.tool !== 'user_shell') return found;
  if (found.kind === 'call') notes.lastTyped = line;
  return { ...found, call: `shell:${notes.lastTyped}` };
}

function takeAttachment(record: Fields, line: number, notes: Notes): void {
  const attachment = fieldsOf(record.attachment);
  const words = queuedWords(attachment);
  const type = textOf(attachment.type) ?? '?';
  if (words === null) {
    for (const { text, isMemory } of contextsOf(attachment)) notes.items.inject(text, isMemory);
    notes.items.skip(isSkippedAttachment(type) ? `attachment:${type}` : unknownType(`attachment:${type}`));
    return;
  }
  const said = words.map((entry) => asSaid(entry, record, line, notes));
  addAll(said, record, notes, 'attachment:queued_command');
}

/** A block keeps its place in the record, so what is dropped today leaves the others' numbers as they are. */
function addAll(found: readonly (Part | null)[], record: Fields, notes: Notes, label: string): void {
  const taken = notes.items.parts();
  const id = textOf(record.uuid);
  const before = notes.items.items.length;
  for (const [index, entry] of found.entries())
    if (entry !== null) notes.items.add(taken + index + 1, id === null ? entry : { ...entry, id });
  if (notes.items.items.length === before) notes.items.skip(label);
}
