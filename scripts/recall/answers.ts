import { isAbsolute } from 'node:path';
import { jsonText } from '../shared/escape.ts';

/** The agents whose hooks ask at the start of a session. */
export const recallAgents = ['claude-code', 'codex', 'copilot', 'gemini'] as const;

export type RecallAgent = (typeof recallAgents)[number];

export function isRecallAgent(name: string): name is RecallAgent {
  return (recallAgents as readonly string[]).includes(name);
}

/**
 * The session's folder as a start hook's payload names it; null where it names none.
 * @throws SyntaxError for text that is no JSON object.
 */
export function folderIn(payload: string): string | null {
  const value: unknown = JSON.parse(payload);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError('no JSON object');
  const { cwd } = value as Record<string, unknown>;
  const isPath = typeof cwd === 'string' && cwd.length <= 4_096 && !cwd.includes('\0') && isAbsolute(cwd);
  return isPath ? cwd : null;
}

/** What an agent's start hook has to print for a text to reach the session; for '' what changes nothing. */
export function answerTo(agent: RecallAgent, text: string): string {
  if (text === '') return '{}';
  switch (agent) {
    case 'claude-code':
    case 'codex':
    case 'gemini':
      return jsonText({ hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: text } });
    case 'copilot':
      return jsonText({ additionalContext: text });
  }
}
