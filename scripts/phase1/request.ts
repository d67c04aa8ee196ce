import type { Message, ModelRequest } from '../model/types.ts';
import { fence, type Language, languagePhrase, loadPrompt, type PromptName, renderPrompt } from '../shared/prompt.ts';
import { stage1Limits } from './limits.ts';
import type { ExtractionInput } from './types.ts';

/** The prompts behind every request of phase 1. */
export const phase1Prompts: readonly PromptName[] = ['phase1-system', 'phase1-input', 'phase1-repair'];

export interface RequestSettings {
  readonly model: string;
  readonly promptHash: string;
  readonly language: Language;
  readonly maxOutputTokens: number;
}

/**
 * The request for one rollout. Its first message is the same for every rollout, so that a server can cache it; what
 * the rollout says comes last, fenced.
 * @param rollout rendered and redacted
 */
export function extractionRequest(
  input: ExtractionInput,
  rollout: string,
  settings: RequestSettings,
  attempt = 1,
): ModelRequest {
  return {
    purpose: 'phase1',
    subject: input.thread.id,
    promptHash: settings.promptHash,
    model: settings.model,
    attempt,
    messages: [systemMessage(settings.language), inputMessage(input, rollout)],
    schema: { name: 'stage1_output', schema: stage1Schema },
    maxOutputTokens: settings.maxOutputTokens,
    effort: 'low',
  };
}

/** The same conversation with the answer and what is wrong with it. */
export function repairRequest(before: ModelRequest, answer: string, problems: readonly string[]): ModelRequest {
  const list = problems.map((problem) => `- ${problem}`).join('\n');
  return {
    ...before,
    attempt: before.attempt + 1,
    messages: [
      ...before.messages,
      { role: 'assistant', text: answer },
      { role: 'user', text: renderPrompt(loadPrompt('phase1-repair'), { problems: list }) },
    ],
  };
}

export const stage1Keys = ['rollout_summary', 'rollout_slug', 'raw_memory'] as const;

const stage1Schema = {
  type: 'object',
  properties: Object.fromEntries(stage1Keys.map((key) => [key, { type: 'string' }])),
  required: stage1Keys,
  additionalProperties: false,
};

const systemMessages = new Map<Language, Message>();

/** Made once: it is long, and the same for every rollout. */
function systemMessage(language: Language): Message {
  const known = systemMessages.get(language);
  if (known !== undefined) return known;
  const text = renderPrompt(loadPrompt('phase1-system'), {
    language: languagePhrase(language),
    slug_characters: String(stage1Limits.slugCharacters),
    summary_bytes: String(stage1Limits.rolloutSummaryBytes),
    raw_memory_bytes: String(stage1Limits.rawMemoryBytes),
  });
  const message: Message = { role: 'system', text };
  systemMessages.set(language, message);
  return message;
}

function inputMessage({ thread, rolloutPath }: ExtractionInput, rollout: string): Message {
  const text = renderPrompt(loadPrompt('phase1-input'), {
    agent: thread.agent,
    repo: oneLine(thread.repo),
    cwd: oneLine(thread.cwd),
    branch: oneLine(thread.branch ?? 'unknown'),
    rollout_path: oneLine(rolloutPath),
    rollout: fence('rollout', rollout),
  });
  return { role: 'user', text };
}

/** A hint comes from outside as well: one line of bounded length. */
function oneLine(text: string): string {
  return text
    .slice(0, 300)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Cf}]+/gu, ' ')
    .trim();
}
