import { parsedJson } from '../shared/json.ts';
import type { ModelReply } from './types.ts';

/** Without secrets, also in JSON's strings. */
export function redactedReply(reply: ModelReply, redact: (text: string) => string): ModelReply {
  return {
    ...reply,
    text: redactedText(reply.text, redact),
    toolCalls: reply.toolCalls.map((call) => ({ ...call, arguments: redactedText(call.arguments, redact) })),
  };
}

/** JSON is redacted in its strings first, where a secret stands without escapes, then as it is written. */
function redactedText(text: string, redact: (text: string) => string): string {
  const value = /^\s{0,99}[{[]/.test(text) ? parsedJson(text) : undefined;
  if (value === undefined) return redact(text);
  let isClean = true;
  const clean = redactedValue(value, (part) => {
    const redacted = redact(part);
    isClean &&= redacted === part;
    return redacted;
  });
  return redact(isClean ? text : JSON.stringify(clean));
}

function redactedValue(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((part) => redactedValue(part, redact));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, redactedValue(part, redact)]));
}
