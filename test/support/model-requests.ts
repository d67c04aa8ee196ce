import type { ModelRequest } from '../../scripts/model/types.ts';

/** A request of phase 1 with a short prompt; give what matters. */
export function aRequest(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    purpose: 'phase1',
    subject: 'thread-1',
    promptHash: 'p1',
    model: 'small-model',
    attempt: 1,
    messages: [
      { role: 'system', text: 'You extract memories.' },
      { role: 'user', text: 'The session.' },
    ],
    maxOutputTokens: 1000,
    ...changes,
  };
}

/** A strict schema of one string. */
export const noteSchema = {
  name: 'note',
  schema: {
    type: 'object',
    properties: { note: { type: 'string' } },
    required: ['note'],
    additionalProperties: false,
  },
} as const;

/** A tool with one string argument. */
export const readTool = {
  name: 'read',
  description: 'Reads a file.',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string' } },
    required: ['path'],
    additionalProperties: false,
  },
} as const;
