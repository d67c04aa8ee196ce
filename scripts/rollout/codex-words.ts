import { type Fields, fieldsOf, jsonOf, listOf, textOf } from './fields.ts';
import { isAgentMessage, splitWords, type Words } from './harness.ts';
import type { Part } from './items.ts';
import type { Who } from './types.ts';

const kindsKey = 'internal_chat_message_metadata_passthrough';

/** What a message record says, one entry for each part that has one author. */
export function messageWords(payload: Fields, metadata: Fields): Part[] {
  const id = textOf(payload.id);
  const words = (entry: Words): Part => ({ ...entry, kind: 'text', ...(id === null ? {} : { id }) });
  if (payload.role === 'user') return userFound(payload).map((found) => ({ ...found, ...(id === null ? {} : { id }) }));
  return [words({ who: speakerOf(payload, metadata), text: contentText(payload.content) })];
}

/** Words from one agent to another. */
export function agentWords(payload: Fields): Part[] {
  const text = contentText(payload.content ?? payload.message ?? payload.text);
  return [{ who: 'other_agent', kind: 'text', text: text === '' ? jsonOf(payload) : text }];
}

/** What an event says that a message may have said already, or null. */
export function eventWords(payload: Fields): Part | null {
  const item = fieldsOf(payload.item);
  if (payload.type === 'user_message') return spoken('human', textOf(payload.message));
  if (payload.type === 'agent_message') return spoken(phased(payload.phase), textOf(payload.message));
  if (payload.type === 'item_completed' && item.type === 'UserMessage')
    return spoken('human', contentText(item.content));
  if (payload.type === 'item_completed' && item.type === 'AgentMessage')
    return spoken(phased(item.phase), contentText(item.content));
  return null;
}

/** The texts of a content list, media named; a plain text as it is. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => partText(fieldsOf(part)))
    .filter((text) => text !== '')
    .join('\n');
}

function partText(part: Fields): string {
  const type = String(part.type ?? '').toLowerCase();
  if (type.includes('image')) return '[image omitted]';
  if (type.includes('audio')) return '[audio omitted]';
  return textOf(part.text) ?? '';
}

function speakerOf(payload: Fields, metadata: Fields): Who {
  if (payload.role !== 'assistant' || metadata.compaction_output === true) return 'harness';
  return phased(payload.phase);
}

function phased(phase: unknown): Who {
  return phase === 'commentary' ? 'commentary' : 'assistant';
}

function spoken(who: Who, text: string | null): Part | null {
  return text === null || text.trim() === '' ? null : { who, kind: 'text', text };
}

function userFound(payload: Fields): Part[] {
  const kinds = listOf(fieldsOf(payload[kindsKey]).content_item_kinds);
  const parts =
    typeof payload.content === 'string' ? [{ type: 'input_text', text: payload.content }] : listOf(payload.content);
  const found: Part[] = [];
  for (const [index, part] of parts.entries())
    for (const piece of partWords(partText(fieldsOf(part)), kinds[index])) {
      const last = found.at(-1);
      if (piece.who === 'human' && piece.kind === 'text' && last?.who === 'human' && last.kind === 'text')
        found[found.length - 1] = { ...last, text: `${last.text}\n${piece.text}` };
      else found.push(piece);
    }
  return found;
}

/** @param kind what Codex itself says of the part, where its version does. */
function partWords(text: string, kind: unknown): Part[] {
  if (text.trim() === '') return [];
  if (typeof kind === 'string' && !kind.startsWith('user.')) {
    const who = kind.startsWith('multi_agent.') || isAgentMessage(text) ? 'other_agent' : 'harness';
    return (
      splitShell(text) ?? [
        { who: text.trimStart().startsWith('<subagent_notification>') ? 'other_agent' : who, kind: 'text', text },
      ]
    );
  }
  if (isAgentMessage(text)) return [{ who: 'other_agent', kind: 'text', text }];
  return splitShell(text) ?? splitWords(text).flatMap(afterIdeContext);
}

/** Warnings that the client itself writes in the user's name. */
const clientWarning =
  /^Warning: (?:apply_patch was requested|The maximum number of unified exec|Your account|Long threads)/;
const ideRequest = /^## My request for Codex:[ \t]*\r?\n/m;

/** An editor's extension puts its context before the request, under a heading of its own. */
function afterIdeContext(words: Words): Part[] {
  if (words.who !== 'human') return [{ ...words, kind: 'text' }];
  if (clientWarning.test(words.text)) return [{ who: 'harness', kind: 'text', text: words.text }];
  const request = words.text.startsWith('# Context from my IDE setup') ? ideRequest.exec(words.text) : null;
  if (request === null) return [{ ...words, kind: 'text' }];
  const asked = request.index + request[0].length;
  return [
    { who: 'harness', kind: 'text', text: words.text.slice(0, request.index) },
    { who: 'human', kind: 'text', text: words.text.slice(asked).trim() },
  ];
}

/** A command that the person ran with `!`, and what it printed. */
function splitShell(text: string): Part[] | null {
  const trimmed = text.trim();
  if (!trimmed.startsWith('<user_shell_command>') || !trimmed.endsWith('</user_shell_command>')) return null;
  const command = between(trimmed, '<command>', '</command>');
  const result = between(trimmed, '<result>', '</result>');
  if (command === null) return null;
  const call = `shell:${command.length}:${trimmed.length}`;
  const asked: Part = { who: 'human', kind: 'call', tool: 'user_shell', does: 'shell', text: command, call };
  if (result === null) return [asked];
  const code = /^Exit code: (-?\d{1,10})$/m.exec(result)?.[1];
  const printed = result.indexOf('Output:\n');
  const output = printed === -1 ? result : result.slice(printed + 'Output:\n'.length);
  return [
    asked,
    { who: 'tool', kind: 'output', text: output, call, ...(code === undefined ? {} : { exit: Number(code) }) },
  ];
}

function between(text: string, open: string, close: string): string | null {
  const start = text.indexOf(open);
  const end = start === -1 ? -1 : text.indexOf(close, start + open.length);
  return end === -1 ? null : text.slice(start + open.length, end).trim();
}
