import { parseRawMemories } from '../../scripts/phase2/raw-memory.ts';
import { toHandbookEvidence } from '../../scripts/shared/evidence.ts';
import { renderBlock } from '../../scripts/workspace/handbook.ts';
import { formatReference } from '../../scripts/workspace/reference.ts';
import type { Answer, RecordedRequest, ScriptedCall } from './api-types.ts';

/** The scope that a request of phase 2 is for. */
export function scopeIn(request: RecordedRequest): string {
  return /scope `([^`]+)`/.exec(request.texts[1] ?? '')?.[1] ?? '';
}

/** How often the agent has spoken in this conversation. */
export function turnOf(request: RecordedRequest): number {
  const messages = request.body.messages;
  if (!Array.isArray(messages)) return 0;
  return messages.filter((message: { role?: string }) => message.role === 'assistant').length;
}

/** What the tool call with this id answered, line numbers taken off; '' where there is no such file. */
export function answerTo(request: RecordedRequest, id: string): string {
  const messages: { role?: string; tool_call_id?: string; content?: string }[] = Array.isArray(request.body.messages)
    ? request.body.messages
    : [];
  const text = messages.findLast((message) => message.role === 'tool' && message.tool_call_id === id)?.content ?? '';
  if (!/^\d+\t/.test(text)) return '';
  return `${text
    .split('\n')
    .map((line) => line.replace(/^\d+\t/, ''))
    .join('\n')}\n`;
}

export const handbook = 'memories/MEMORY.md';
const rawMemories = 'memories/raw_memories.md';
const summary = 'memories/memory_summary.md';
const digest = 'memories/digest.md';

export function read(path: string, id: string): ScriptedCall {
  return { id, name: 'read', arguments: { path, from: 1, lines: 2_000 } };
}

export function write(path: string, text: string, id = 'write'): ScriptedCall {
  return { id, name: 'write', arguments: { path, text } };
}

/**
 * What a sound agent does: looks around, then one block a thread; in an existing handbook it adds blocks for new
 * threads and takes out what the diff shows as deleted. For `*`: the summary from the digest.
 */
export function agentAnswer(request: RecordedRequest): Answer {
  const scope = scopeIn(request);
  switch (turnOf(request)) {
    case 0:
      return { calls: [{ id: 'list', name: 'list', arguments: {} }, ...lookAt(scope)] };
    case 1: {
      const calls = scope === '*' ? [write(summary, summaryOf(request))] : edits(request, scope);
      return calls.length > 0 ? { calls } : { text: 'Nothing to change.' };
    }
    default:
      return { text: 'Done: taken in what was new.' };
  }
}

function lookAt(scope: string): ScriptedCall[] {
  return scope === '*' ? [read(digest, 'digest')] : [read(rawMemories, 'raw'), read(handbook, 'handbook')];
}

function edits(request: RecordedRequest, scope: string): ScriptedCall[] {
  const before = answerTo(request, 'handbook');
  const after = withNewThreads(withoutGone(before, request), answerTo(request, 'raw'), scope);
  return after === before ? [] : [write(handbook, after)];
}

/** Short ids of the threads whose summaries the diff shows as deleted. */
export function goneThreads(request: RecordedRequest): string[] {
  const diff = request.texts[1] ?? '';
  return diff
    .split(/^diff --git /m)
    .filter((part) => part.startsWith('a/memories/rollout_summaries/') && part.includes('\ndeleted file mode'))
    .flatMap((part) => /^-thread: (\S+)$/m.exec(part)?.[1] ?? []);
}

/** Takes the evidence of deleted threads out; a bullet goes when none is left, a block when no bullet is. */
function withoutGone(text: string, request: RecordedRequest): string {
  const gone = goneThreads(request);
  if (gone.length === 0) return text;
  const cited = new RegExp(`[ \\t]*\\[(?:${gone.join('|')})@[\\d,]+\\]`, 'g');
  const lines = text.split('\n').flatMap((line) => {
    if (!cited.test(line)) return [line];
    const rest = line.replace(cited, '');
    return /\[[a-z2-7]{8}@/.test(rest) ? [rest] : [];
  });
  return lines.join('\n');
}

export function withNewThreads(text: string, raw: string, scope: string): string {
  const blocks = parseRawMemories(raw)
    .filter(({ header }) => !text.includes(`rollout_summaries/${header.rollout_summary_file}`))
    .map((memory) => {
      const marked = (bullets: readonly string[]) =>
        bullets.map((bullet) => toHandbookEvidence(bullet, memory.header.thread ?? ''));
      const [task] = memory.tasks;
      return renderBlock({
        title: task?.name ?? 'work',
        scopeLine: 'what this work is about',
        appliesTo: { repo: scope, cwd: '.', reuseRule: 'holds for this checkout' },
        tasks: [
          {
            title: `${task?.name}, success`,
            references: [
              formatReference(`rollout_summaries/${memory.header.rollout_summary_file}`, {
                ...memory.header,
                thread_id: memory.threadId,
              }),
            ],
            keywords: ['work'],
          },
        ],
        bullets: {
          preferences: marked(task?.preferences ?? []),
          knowledge: marked(task?.knowledge ?? []),
          failures: marked(task?.failures ?? []),
        },
      });
    });
  return [text.trimEnd(), ...blocks]
    .filter((part) => part !== '')
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}

function summaryOf(request: RecordedRequest): string {
  const repositories = [...(request.texts[1] ?? '').matchAll(/^- (\S+\/\S+\/\S+)$/gm)].map((match) => match[1] ?? '');
  const lines = repositories.map((repository) => `- ${repository}: work (2026-11-29)`);
  return `v1\n\n## User Profile\n\n## User preferences\n\n## General Tips\n\n## What's in Memory\n\n${lines.join('\n')}\n`;
}
