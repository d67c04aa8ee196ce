import { memoryClose } from './marker.ts';
import type { Who } from './types.ts';

export interface Words {
  readonly who: Who;
  readonly text: string;
}

/** Blocks that programs put into a user's message: opening text, closing text, whose words. */
const blocks: readonly (readonly [open: string, close: string, who: Who])[] = [
  ['<commit-to-memory v="1"', memoryClose, 'harness'],
  ['# AGENTS.md instructions', '</INSTRUCTIONS>', 'harness'],
  ['<user_instructions>', '</user_instructions>', 'harness'],
  ['<environment_context>', '</environment_context>', 'harness'],
  ['<skill>', '</skill>', 'harness'],
  ['<skill name="', '</skill>', 'harness'],
  ['<turn_aborted>', '</turn_aborted>', 'harness'],
  ['<subagent_notification>', '</subagent_notification>', 'other_agent'],
  ['<system-reminder>', '</system-reminder>', 'harness'],
  ['<local-command-caveat>', '</local-command-caveat>', 'harness'],
  ['<local-command-stdout>', '</local-command-stdout>', 'harness'],
  ['<local-command-stderr>', '</local-command-stderr>', 'harness'],
  ['<ide_opened_file>', '</ide_opened_file>', 'harness'],
  ['<ide_selection>', '</ide_selection>', 'harness'],
  ['<ide_diagnostics>', '</ide_diagnostics>', 'harness'],
  ['<user-prompt-submit-hook>', '</user-prompt-submit-hook>', 'harness'],
  ['<task-notification>', '</task-notification>', 'harness'],
  ['<teammate-message', '</teammate-message>', 'other_agent'],
  ['<recommended_plugins>', '</recommended_plugins>', 'harness'],
  ['<session_context>', '</session_context>', 'harness'],
  ['<hook_context>', '</hook_context>', 'harness'],
  ['<state_snapshot>', '</state_snapshot>', 'harness'],
  ['<background_output>', '</background_output>', 'harness'],
  ['========= MEMORY_SUMMARY BEGINS =========', '========= MEMORY_SUMMARY ENDS =========', 'harness'],
];

/**
 * Splits what stands in the user's place into the person's words and what programs put in, in order. A block counts
 * only where it starts a line and is closed: a person who writes about `<skill>` in a sentence keeps it.
 */
export function splitWords(text: string): Words[] {
  const parts: Words[] = [];
  const unclosed = new Set<string>();
  let from = 0;
  let at = 0;
  while (at < text.length) {
    const block = blockAt(text, at, unclosed);
    if (block) {
      if (text.slice(from, at).trim() !== '') parts.push({ who: 'human', text: text.slice(from, at).trim() });
      parts.push({ who: block.who, text: text.slice(at, block.end) });
      from = block.end;
      at = block.end;
      continue;
    }
    const next = text.indexOf('\n', at);
    at = next === -1 ? text.length : next + 1;
  }
  if (text.slice(from).trim() !== '')
    parts.push({ who: 'human', text: parts.length === 0 ? text : text.slice(from).trim() });
  return parts;
}

/** Four header lines that Codex writes over a message from one agent to another. */
export function isAgentMessage(text: string): boolean {
  return /^\s{0,20}Message Type: [^\n]{0,200}\nTask name: [^\n]{0,500}\nSender: [^\n]{0,500}\nPayload:/.test(text);
}

/** @param unclosed closing texts known not to come any more: each is looked for to the end once. */
function blockAt(text: string, lineStart: number, unclosed: Set<string>): { who: Who; end: number } | null {
  let at = lineStart;
  while (at < text.length && at - lineStart < 40 && (text[at] === ' ' || text[at] === '\t')) at += 1;
  const lead = text[at];
  if (lead !== '<' && lead !== '#' && lead !== '=') return null;
  for (const [open, close, who] of blocks) {
    if (unclosed.has(close) || !text.startsWith(open, at)) continue;
    const closeAt = text.indexOf(close, at + open.length);
    if (closeAt !== -1) return { who, end: closeAt + close.length };
    unclosed.add(close);
  }
  return null;
}
