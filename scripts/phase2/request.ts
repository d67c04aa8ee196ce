import type { Message } from '../model/types.ts';
import type { Files } from '../shared/files.ts';
import { fence, type Language, languagePhrase, loadPrompt, renderPrompt } from '../shared/prompt.ts';
import { digestPath } from '../workspace/digest.ts';
import { everywhere, sizeLimits } from '../workspace/layout.ts';
import type { ConsolidationTask } from './types.ts';

export interface OpeningSettings {
  readonly audience: 'team' | 'person';
  readonly language: Language;
  readonly redact: (text: string) => string;
}

/**
 * The two messages that begin a conversation. The first is the same for every scope, so that a server can cache it.
 * @param diffBytes of the diff; where it is cut it says so, and the agent reads the files.
 */
export function opening(task: ConsolidationTask, settings: OpeningSettings, diffBytes: number): Message[] {
  const { audience, language, redact } = settings;
  const system = renderPrompt(loadPrompt('phase2-system'), { audience, language: languagePhrase(language) });
  const inventory = inventoryOf(task.files);
  const diff = fence('diff', redact(task.changes(diffBytes)));
  const user =
    task.scope === everywhere
      ? renderPrompt(loadPrompt('phase2-star'), {
          audience,
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
    { role: 'user', text: redact(user) },
  ];
}

export function repairText(problems: readonly string[]): string {
  return renderPrompt(loadPrompt('phase2-repair'), { problems: problems.map((problem) => `- ${problem}`).join('\n') });
}

/** Share of the context window that the diff may take: the rest is for reading and writing. */
const diffShare = 0.3;
/** @source codex-rs: what an unknown model is taken to hold */
const unknownWindow = 150_000;
const bytesPerToken = 3;
/** @source codex-rs: the cap of the workspace diff */
const mostDiffBytes = 4_194_304;

/** @param window tokens; null where it is unknown */
export function diffBytesFor(window: number | null): number {
  return Math.min(mostDiffBytes, Math.floor((window ?? unknownWindow) * diffShare) * bytesPerToken);
}

/** Answers of tools that stay whole when a conversation has to be shortened. */
const freshAnswers = 4;
/** Characters: a shorter answer is not worth leaving out. */
const shortAnswer = 400;

/** The conversation with its older tool answers left out: whoever needs one can read it again. */
export function withoutOldAnswers(messages: readonly Message[]): Message[] {
  const answers = messages.filter((message) => message.role === 'tool');
  const fresh = new Set(answers.slice(-freshAnswers));
  return messages.map((message) =>
    message.role !== 'tool' || fresh.has(message) || message.text.length <= shortAnswer
      ? message
      : { ...message, text: '[left out for space: read it again where it is needed]' },
  );
}

function inventoryOf(files: Files): string {
  return [...files].map(([path, text]) => `- ${path} (${linesOf(text)} lines)`).join('\n') || '- none';
}

function linesOf(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
