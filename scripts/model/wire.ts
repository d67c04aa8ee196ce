import type { Dialect } from './dialect.ts';
import type { Reading } from './reading.ts';
import type { ModelRequest } from './types.ts';
import { chatBody, chatPath, readChat } from './wire-chat.ts';
import { readResponses, responsesBody, responsesPath } from './wire-responses.ts';

/** Below the server's address. */
export function pathOf(wire: Dialect['wire']): string {
  return wire === 'chat' ? chatPath : responsesPath;
}

export function bodyFor(request: ModelRequest, dialect: Dialect): Record<string, unknown> {
  return dialect.wire === 'chat' ? chatBody(request, dialect) : responsesBody(request, dialect);
}

export function readBody(wire: Dialect['wire'], body: string, isStream: boolean): Reading {
  return wire === 'chat' ? readChat(body, isStream) : readResponses(body, isStream);
}
