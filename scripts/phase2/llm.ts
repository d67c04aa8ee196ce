import { ModelError } from '../model/errors.ts';
import type { Message, Model, ModelReply, ModelRequest, Usage } from '../model/types.ts';
import type { Files } from '../shared/files.ts';
import {
  fence,
  type Language,
  languagePhrase,
  loadPrompt,
  type PromptName,
  promptHash,
  renderPrompt,
} from '../shared/prompt.ts';
import { everywhere, isWritable, sizeLimits } from '../workspace/layout.ts';
import { openDesk, toolSpecs } from './tools.ts';
import type { ConsolidationTask, Consolidator, Proposal } from './types.ts';

export interface AgentOptions {
  readonly model: Model;
  readonly modelName: string;
  readonly audience: 'team' | 'person';
  readonly language: Language;
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
  /** Milliseconds since the scope began, on a monotonic clock. */
  readonly minutes: number;
  elapsed(): () => number;
}

const prompts: readonly PromptName[] = [
  'phase2-system',
  'phase2-init',
  'phase2-incremental',
  'phase2-star',
  'phase2-repair',
];

/** The file of the scope `*`'s projection that holds all scopes' preferences and headings. */
export const digestPath = 'memories/digest.md';

/** Consolidates with a model that works on the scope's projection through six tools and can reach nothing else. */
export function createAgentConsolidator(options: AgentOptions): Consolidator {
  return {
    class: 'llm',
    promptHash: promptHash(prompts),
    consolidate: (task, signal) => converse(task, options, signal),
  };
}

async function converse(task: ConsolidationTask, options: AgentOptions, signal?: AbortSignal): Promise<Proposal> {
  const { limits } = options;
  const desk = openDesk(task.files, (path) => isWritable(path, task.scope));
  const messages: Message[] = [...opening(task, options)];
  const elapsed = limits.elapsed();
  let usage: Usage = { requests: 0, input: 0, cached: 0, output: 0 };
  let reviews = 0;
  for (let turn = 1; turn <= limits.turns; turn += 1) {
    const end = (why: Proposal['end']): Proposal => ({ files: desk.files, usage, turns: turn, end: why });
    const reply = await options.model.ask(request(task, messages, options, limits), signal);
    usage = plus(usage, reply.usage);
    if (reply.finish === 'refusal') throw refused(task.scope, reply);
    if (reply.toolCalls.length > 0 && reply.finish !== 'length') {
      messages.push({ role: 'assistant', text: reply.text, toolCalls: reply.toolCalls });
      for (const call of reply.toolCalls) {
        messages.push({ role: 'tool', callId: call.id, text: options.redact(desk.use(call)) });
      }
    } else if (reply.finish === 'length') {
      return end('cut_off');
    } else {
      const problems = task.review(desk.files);
      if (problems.length === 0) return end('finished');
      if (reviews === limits.reviews) return end('review_spent');
      reviews += 1;
      messages.push({ role: 'assistant', text: reply.text });
      messages.push({ role: 'user', text: options.redact(repairText(problems)) });
    }
    if (usage.input >= limits.inputTokens) return end('tokens_spent');
    if (elapsed() >= limits.minutes * 60_000) return end('time_spent');
  }
  return { files: desk.files, usage, turns: limits.turns, end: 'turns_spent' };
}

function opening(task: ConsolidationTask, options: AgentOptions): Message[] {
  const system = renderPrompt(loadPrompt('phase2-system'), {
    audience: options.audience,
    language: languagePhrase(options.language),
  });
  const inventory = inventoryOf(task.files);
  const diff = fence('diff', task.changes);
  const user =
    task.scope === everywhere
      ? renderPrompt(loadPrompt('phase2-star'), {
          audience: options.audience,
          digest_file: digestPath,
          summary_characters: String(sizeLimits.summaryCharacters),
          repositories: task.repositories.map((repo) => `- ${repo}`).join('\n') || '- none yet',
          inventory,
          diff,
        })
      : renderPrompt(loadPrompt(task.mode === 'init' ? 'phase2-init' : 'phase2-incremental'), {
          scope: task.scope,
          inventory,
          diff,
        });
  return [
    { role: 'system', text: system },
    { role: 'user', text: options.redact(user) },
  ];
}

function request(
  task: ConsolidationTask,
  messages: readonly Message[],
  options: AgentOptions,
  limits: AgentLimits,
): ModelRequest {
  return {
    purpose: 'phase2',
    subject: task.scope,
    promptHash: promptHash(prompts),
    model: options.modelName,
    attempt: 1,
    messages: [...messages],
    tools: toolSpecs,
    maxOutputTokens: limits.outputTokensPerTurn,
    effort: 'medium',
  };
}

function repairText(problems: readonly string[]): string {
  return renderPrompt(loadPrompt('phase2-repair'), { problems: problems.map((problem) => `- ${problem}`).join('\n') });
}

function inventoryOf(files: Files): string {
  return [...files].map(([path, text]) => `- ${path} (${text.split('\n').length} lines)`).join('\n') || '- none';
}

function refused(scope: string, reply: ModelReply): ModelError {
  return new ModelError(
    'bad_request',
    `The model refused to consolidate ${scope}: ${reply.text.slice(0, 200)}`,
    'Nothing of this scope changed; the next night tries again. Another consolidation model may answer.',
  );
}

function plus(a: Usage, b: Usage): Usage {
  return {
    requests: a.requests + b.requests,
    input: a.input + b.input,
    cached: a.cached + b.cached,
    output: a.output + b.output,
  };
}
