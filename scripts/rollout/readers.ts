import { claudeCodeReader } from './claude-code.ts';
import { codexReader } from './codex.ts';
import type { Reader } from './reader.ts';
import type { Agent } from './types.ts';

/** One reader an agent: to add an agent, write its reader and name it here. */
export const readers: Readonly<Record<Agent, Reader>> = {
  codex: codexReader,
  'claude-code': claudeCodeReader,
};
