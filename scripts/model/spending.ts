import type { ModelRequest, Usage } from './types.ts';

/** Input and output tokens together, and dollars. */
export interface Spending {
  readonly tokens: number;
  readonly usd: number;
}

export function sumOf(...parts: readonly (Spending | undefined)[]): Spending {
  return parts.reduce<Spending>(
    (total, part) => ({ tokens: total.tokens + (part?.tokens ?? 0), usd: total.usd + (part?.usd ?? 0) }),
    { tokens: 0, usd: 0 },
  );
}

/** The most that a request can use: 2.5 bytes a token, and all of the output that it allows. */
export function mostOf(request: ModelRequest): Usage {
  const texts = request.messages.map((message) => message.text);
  const calls = request.messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));
  const extras = JSON.stringify([request.schema, request.tools]);
  const bytes = [...texts, ...calls.map((call) => call.arguments), extras].reduce(
    (total, text) => total + Buffer.byteLength(text),
    0,
  );
  return { requests: 1, input: Math.ceil(bytes / 2.5), cached: 0, output: request.maxOutputTokens };
}
