import { parsedJson } from '../shared/json.ts';
import { at, countAt, listAt, textAt } from './at.ts';
import type { Dialect } from './dialect.ts';
import { eventsOf } from './events.ts';
import { argumentsText, contentText, messagesWithSchema, type Reading } from './reading.ts';
import type { Message, ModelReply, ModelRequest } from './types.ts';

export const chatPath = '/chat/completions';

export function chatBody(request: ModelRequest, dialect: Dialect): Record<string, unknown> {
  const format = request.schema === undefined ? 'plain' : dialect.format;
  const messages = format === 'json_schema' ? request.messages : messagesWithSchema(request);
  return {
    model: request.model,
    messages: messages.map(chatMessage),
    [dialect.outputLimit]: request.maxOutputTokens,
    ...(format === 'json_schema' && {
      response_format: { type: 'json_schema', json_schema: { ...request.schema, strict: true } },
    }),
    ...(format === 'json_object' && { response_format: { type: 'json_object' } }),
    ...(request.tools !== undefined && {
      tools: request.tools.map((tool) => ({
        type: 'function',
        function: { ...tool, ...(dialect.strictTools && { strict: true }) },
      })),
    }),
    ...(request.effort !== undefined && dialect.effort && { reasoning_effort: request.effort }),
    ...(dialect.stream && { stream: true }),
    ...(dialect.stream && dialect.streamUsage && { stream_options: { include_usage: true } }),
  };
}

export function readChat(body: string, isStream: boolean): Reading {
  if (isStream) return readStream(body);
  const value = parsedJson(body);
  if (value === undefined) {
    return /^\s{0,99}\{/.test(body) ? { outcome: 'cut', why: 'its JSON breaks off' } : { outcome: 'foreign' };
  }
  return readCompletion(value, 'stop');
}

function chatMessage(message: Message): Record<string, unknown> {
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, content: message.text };
    case 'tool':
      return { role: 'tool', tool_call_id: message.callId, content: message.text };
    case 'assistant':
      if (!message.toolCalls?.length) return { role: 'assistant', content: message.text };
      return {
        role: 'assistant',
        content: message.text === '' ? null : message.text,
        tool_calls: message.toolCalls.map((call) => ({
          id: call.id,
          type: 'function',
          function: { name: call.name, arguments: call.arguments },
        })),
      };
  }
}

/** @param unfinished what a missing finish reason means: `stop` in a whole body, nothing in a stream. */
function readCompletion(value: unknown, unfinished: 'stop' | null): Reading {
  const error = at(value, 'error');
  if (error !== undefined && error !== null) return { outcome: 'error', error };
  const choice = at(value, 'choices', 0);
  const message = at(choice, 'message');
  if (typeof message !== 'object' || message === null) return { outcome: 'foreign' };
  const reason = textAt(choice, 'finish_reason') ?? unfinished;
  if (reason === null) return { outcome: 'cut', why: 'its stream ends without a finish reason' };
  const toolCalls = listAt(message, 'tool_calls').map(readCall);
  const refusal = textAt(message, 'refusal');
  return {
    outcome: 'reply',
    text: refusal || contentText(at(message, 'content')),
    toolCalls,
    finish: refusal ? 'refusal' : finishOf(reason, toolCalls.length > 0),
    tokens: readUsage(at(value, 'usage')),
    model: textAt(value, 'model'),
  };
}

function readCall(call: unknown, index: number): ModelReply['toolCalls'][number] {
  return {
    id: textAt(call, 'id') || `call_${index + 1}`,
    name: textAt(call, 'function', 'name') ?? '',
    arguments: argumentsText(at(call, 'function', 'arguments')),
  };
}

function finishOf(reason: string, hasCalls: boolean): ModelReply['finish'] {
  if (reason === 'length' || reason === 'max_tokens') return 'length';
  if (reason === 'content_filter') return 'refusal';
  return hasCalls ? 'tool_calls' : 'stop';
}

function readUsage(usage: unknown): { input: number; cached: number; output: number } | null {
  const input = countAt(usage, 'prompt_tokens');
  const output = countAt(usage, 'completion_tokens');
  if (input === null || output === null) return null;
  return { input, cached: countAt(usage, 'prompt_tokens_details', 'cached_tokens') ?? 0, output };
}

/** Puts the deltas of a stream together to what the same answer is without one. */
function readStream(body: string): Reading {
  const events = eventsOf(body);
  const content: string[] = [];
  const refusal: string[] = [];
  const calls = new Map<number, { id: string; name: string; arguments: string[] }>();
  let finish: string | null = null;
  let usage: unknown = null;
  let model: string | null = null;
  for (const value of events.values) {
    const error = at(value, 'error');
    if (error !== undefined && error !== null) return { outcome: 'error', error };
    model ??= textAt(value, 'model');
    usage = at(value, 'usage') ?? usage;
    const choice = at(value, 'choices', 0);
    finish = textAt(choice, 'finish_reason') ?? finish;
    content.push(contentText(at(choice, 'delta', 'content')));
    refusal.push(textAt(choice, 'delta', 'refusal') ?? '');
    listAt(choice, 'delta', 'tool_calls').forEach((part, position) => {
      const index = countAt(part, 'index') ?? position;
      const call = calls.get(index) ?? { id: '', name: '', arguments: [] };
      call.id ||= textAt(part, 'id') ?? '';
      call.name ||= textAt(part, 'function', 'name') ?? '';
      const piece = at(part, 'function', 'arguments');
      if (piece !== undefined && piece !== null) call.arguments.push(argumentsText(piece));
      calls.set(index, call);
    });
  }
  if (events.damaged && finish === null) return { outcome: 'cut', why: 'its stream breaks off inside an event' };
  return readCompletion(
    {
      model,
      usage,
      choices: [
        {
          finish_reason: finish,
          message: {
            content: content.join(''),
            refusal: refusal.join(''),
            tool_calls: [...calls]
              .sort(([a], [b]) => a - b)
              .map(([, call]) => ({
                id: call.id,
                function: { name: call.name, arguments: call.arguments.join('') || '{}' },
              })),
          },
        },
      ],
    },
    null,
  );
}
