import { ModelError } from '../model/errors.ts';
import type { Message, Model, ModelReply, ModelRequest } from '../model/types.ts';
import { addUsage, noUsage } from '../model/usage.ts';
import { type Language, type PromptName, promptHash } from '../shared/prompt.ts';
import { sha256 } from '../shared/thread-id.ts';
import { isWritable } from '../workspace/layout.ts';
import { diffBytesFor, opening, repairText, withoutOldAnswers } from './request.ts';
import { type Desk, openDesk, toolSpecs } from './tools.ts';
import type { ConsolidationTask, Consolidator, Proposal } from './types.ts';

export interface AgentOptions {
  readonly model: Model;
  readonly modelName: string;
  readonly audience: 'team' | 'person';
  readonly language: Language;
  /** Tokens; null where it is unknown. */
  readonly contextWindow: number | null;
  /** Every text that goes to the model passes here. */
  readonly redact: (text: string) => string;
  readonly limits: AgentLimits;
}

/** What one scope's agent may use up. */
export interface AgentLimits {
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokensPerTurn: number;
  /** Problems that the review finds go back to the agent this often. */
  readonly reviews: number;
  readonly minutes: number;
  /** Starts a stopwatch: milliseconds since then, on a monotonic clock. */
  elapsed(): () => number;
}

const prompts: readonly PromptName[] = [
  'phase2-system',
  'phase2-init',
  'phase2-incremental',
  'phase2-star',
  'phase2-repair',
];

/** Consolidates with a model that works on the scope's projection through six tools and can reach nothing else. */
export function createAgentConsolidator(options: AgentOptions): Consolidator {
  const { audience, language } = options;
  const hash = sha256([promptHash(prompts), audience, language].join('\n')).slice(0, 16);
  return {
    class: 'llm',
    promptHash: hash,
    consolidate: (task, signal) => converse(task, options, hash, signal),
  };
}

async function converse(
  task: ConsolidationTask,
  options: AgentOptions,
  hash: string,
  signal?: AbortSignal,
): Promise<Proposal> {
  const { limits } = options;
  const desk = openDesk(task.files, (path) => isWritable(path, task.scope));
  const elapsed = limits.elapsed();
  let messages: readonly Message[] = opening(task, options, diffBytesFor(options.contextWindow));
  let usage = noUsage;
  let reviews = 0;
  for (let turn = 1; turn <= limits.turns; turn += 1) {
    const end = (why: Proposal['end']): Proposal => ({ files: desk.files, usage, turns: turn, end: why });
    const asked = await askWithin(task, messages, options, hash, signal);
    const { reply } = asked;
    messages = asked.messages;
    usage = addUsage(usage, reply.usage);
    if (reply.finish === 'refusal') throw refused(task.scope, reply);
    if (reply.toolCalls.length > 0 && reply.finish !== 'length') {
      messages = [...messages, ...used(desk, reply, options)];
    } else {
      const problems = problemsOf(reply, desk, task);
      if (problems.length === 0) return end('finished');
      if (reviews === limits.reviews) return end(reply.finish === 'length' ? 'cut_off' : 'review_spent');
      reviews += 1;
      const said = reply.text.trim() === '' ? [] : [{ role: 'assistant', text: reply.text } as const];
      messages = [...messages, ...said, { role: 'user', text: options.redact(repairText(problems)) }];
    }
    if (usage.input >= limits.inputTokens) return end('tokens_spent');
    if (elapsed() >= limits.minutes * 60_000) return end('time_spent');
  }
  return { files: desk.files, usage, turns: limits.turns, end: 'turns_spent' };
}

/** Asks; where the server finds it too long, once more with what can be read again left out and a shorter diff. */
async function askWithin(
  task: ConsolidationTask,
  messages: readonly Message[],
  options: AgentOptions,
  hash: string,
  signal?: AbortSignal,
): Promise<{ reply: ModelReply; messages: readonly Message[] }> {
  try {
    return { reply: await options.model.ask(request(task, messages, options, hash), signal), messages };
  } catch (error) {
    if (!(error instanceof ModelError) || error.kind !== 'too_long') throw error;
    const start = opening(task, options, Math.floor(diffBytesFor(options.contextWindow) / 4));
    const shorter = [...start, ...withoutOldAnswers(messages.slice(start.length))];
    return { reply: await options.model.ask(request(task, shorter, options, hash), signal), messages: shorter };
  }
}

function request(
  task: ConsolidationTask,
  messages: readonly Message[],
  { modelName, limits }: AgentOptions,
  hash: string,
): ModelRequest {
  return {
    purpose: 'phase2',
    subject: task.scope,
    promptHash: hash,
    model: modelName,
    attempt: 1,
    messages,
    tools: toolSpecs,
    maxOutputTokens: limits.outputTokensPerTurn,
    effort: 'medium',
  };
}

function used(desk: Desk, reply: ModelReply, options: AgentOptions): Message[] {
  const answers = reply.toolCalls.map(
    (call): Message => ({ role: 'tool', callId: call.id, text: options.redact(desk.use(call)) }),
  );
  return [{ role: 'assistant', text: reply.text, toolCalls: reply.toolCalls }, ...answers];
}

/** What ends in the middle was not carried out; an empty answer is no report that the work is done. */
function problemsOf(reply: ModelReply, desk: Desk, task: ConsolidationTask): readonly string[] {
  if (reply.finish === 'length')
    return [
      'Your answer was cut off at its limit and not carried out: do less at once, and edit passages of large files.',
    ];
  const problems = task.review(desk.files);
  return reply.text.trim() === ''
    ? ['Your answer was empty: work with the tools, then report.', ...problems]
    : problems;
}

function refused(scope: string, reply: ModelReply): ModelError {
  return new ModelError(
    'bad_request',
    `The model refused to consolidate ${scope}: ${reply.text.slice(0, 200) || 'it gave no reason'}`,
    'Nothing of this scope changed; the next night tries again. Another consolidation model may answer.',
  );
}
