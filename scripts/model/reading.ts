import { textAt } from './at.ts';
import type { ModelReply, ModelRequest, Usage } from './types.ts';

/** What a body turned out to be, before anything is decided about it. */
export type Reading =
  | {
      readonly outcome: 'reply';
      readonly text: string;
      readonly toolCalls: ModelReply['toolCalls'];
      readonly finish: ModelReply['finish'];
      /** Tokens as the server counted them; null where it says nothing. */
      readonly tokens: Omit<Usage, 'requests'> | null;
      readonly model: string | null;
    }
  /** The server reports an error inside an answer that began well. */
  | { readonly outcome: 'error'; readonly error: unknown }
  /** It ends before its end: a stream without a finish, JSON that breaks off. */
  | { readonly outcome: 'cut'; readonly why: string }
  /** No answer of this interface at all: a web page, another program's JSON. */
  | { readonly outcome: 'foreign' };

/** The text of a message's content: a string, or the text parts of a list. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (textAt(part, 'type') === 'thinking' ? '' : (textAt(part, 'text') ?? ''))).join('');
}

/** Arguments as text: some servers give the object instead of its JSON. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '{}' : JSON.stringify(value);
}

/** The request's messages with the wish for JSON in words, for servers that do not take a schema. */
export function messagesWithSchema(request: ModelRequest): ModelRequest['messages'] {
  if (request.schema === undefined) return request.messages;
  const wish = `Answer with one JSON object and nothing else. It must match this JSON Schema:\n${JSON.stringify(request.schema.schema)}`;
  const [first, ...rest] = request.messages;
  if (first?.role !== 'system') return [{ role: 'system', text: wish }, ...request.messages];
  return [{ role: 'system', text: `${first.text}\n\n${wish}` }, ...rest];
}
