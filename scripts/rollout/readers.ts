import { claudeCodeReader } from './claude-code.ts';
import { codexReader } from './codex.ts';
import { copilotReader } from './copilot.ts';
import { geminiReader } from './gemini.ts';
import { openCodeReader } from './opencode.ts';
import { piReader } from './pi.ts';
import type { Reader } from './reader.ts';
import type { Agent } from './types.ts';

/** One reader an agent: to add an agent, write its reader and name it here. */
export const readers: Readonly<Record<Agent, Reader>> = {
  codex: codexReader,
  'claude-code': claudeCodeReader,
  copilot: copilotReader,
  gemini: geminiReader,
  opencode: openCodeReader,
  pi: piReader,
};
