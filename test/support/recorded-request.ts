import type { RecordedRequest } from './api-types.ts';

/** A request with its texts at hand. */
export function recordedFrom(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: Readonly<Record<string, unknown>>,
): RecordedRequest {
  return { method, path, headers, body, texts: textsOf(body.messages ?? body.input) };
}

function textsOf(messages: unknown): string[] {
  if (typeof messages === 'string') return [messages];
  if (!Array.isArray(messages)) return [];
  return messages.map((message: Record<string, unknown>) =>
    String(message.content ?? message.output ?? message.arguments ?? ''),
  );
}
