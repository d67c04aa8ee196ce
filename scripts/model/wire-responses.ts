import { parsedJson } from '../shared/json.ts';
import { at, countAt, listAt, textAt } from './at.ts';
import type { Dialect } from './dialect.ts';
import { eventsOf, lastEventOf } from './events.ts';
import { argumentsText, messagesWithSchema, type Reading } from './reading.ts';
import type { Message, ModelReply, ModelRequest } from './types.ts';

export const responsesPath = '/responses';

/** Stateless: the whole conversation each time, nothing kept at the provider. */
export function responsesBody(request: ModelRequest, dialect: Dialect): Record<string, unknown> {
  const format = request.schema === undefined ? 'plain' : dialect.format;
  const messages = format === 'json_schema' ? request.messages : messagesWithSchema(request);
  return {
    model: request.model,
    input: messages.flatMap(inputItems),
    max_output_tokens: request.maxOutputTokens,
    ...(format === 'json_schema' && { text: { format: { type: 'json_schema', ...request.schema, strict: true } } }),
    ...(format === 'json_object' && { text: { format: { type: 'json_object' } } }),
    ...(request.tools !== undefined && {
      tools: request.tools.map((tool) => ({ type: 'function', ...tool, strict: dialect.strictTools })),
    }),
    ...(request.effort !== undefined && dialect.effort && { reasoning: { effort: request.effort } }),
    ...(dialect.store && { store: false }),
    ...(dialect.stream && { stream: true }),
  };
}

export function readResponses(body: string, isStream: boolean): Reading {
  if (isStream) return readStream(body);
  const value = parsedJson(body);
  if (value === undefined) {
    return /^\s{0,99}\{/.test(body) ? { outcome: 'cut', why: 'its JSON breaks off' } : { outcome: 'foreign' };
  }
  return readResponse(value);
}

function inputItems(message: Message): Record<string, unknown>[] {
  switch (message.role) {
    case 'system':
    case 'user':
      return [{ role: message.role, content: message.text }];
    case 'tool':
      return [{ type: 'function_call_output', call_id: message.callId, output: message.text }];
    case 'assistant':
      return [
        ...(message.text === '' ? [] : [{ role: 'assistant', content: message.text }]),
        ...(message.toolCalls ?? []).map((call) => ({
          type: 'function_call',
          call_id: call.id,
          name: call.name,
          arguments: call.arguments,
        })),
      ];
  }
}

function readResponse(value: unknown): Reading {
  const error = at(value, 'error');
  if (error !== undefined && error !== null) return { outcome: 'error', error };
  const output = at(value, 'output');
  if (!Array.isArray(output)) return { outcome: 'foreign' };
  const parts = output.filter((item) => textAt(item, 'type') === 'message').flatMap((item) => listAt(item, 'content'));
  const refusal = parts.map((part) => textAt(part, 'refusal') ?? '').join('');
  const toolCalls = output.filter((item) => textAt(item, 'type') === 'function_call').map(readCall);
  return {
    outcome: 'reply',
    text: refusal || parts.map((part) => textAt(part, 'text') ?? '').join(''),
    toolCalls,
    finish: refusal ? 'refusal' : finishOf(value, toolCalls.length > 0),
    tokens: readUsage(at(value, 'usage')),
    model: textAt(value, 'model'),
  };
}

function readCall(item: unknown, index: number): ModelReply['toolCalls'][number] {
  return {
    id: textAt(item, 'call_id') || textAt(item, 'id') || `call_${index + 1}`,
    name: textAt(item, 'name') ?? '',
    arguments: argumentsText(at(item, 'arguments')),
  };
}

function finishOf(value: unknown, hasCalls: boolean): ModelReply['finish'] {
  if (textAt(value, 'status') === 'incomplete') {
    return textAt(value, 'incomplete_details', 'reason') === 'content_filter' ? 'refusal' : 'length';
  }
  return hasCalls ? 'tool_calls' : 'stop';
}

function readUsage(usage: unknown): { input: number; cached: number; output: number } | null {
  const input = countAt(usage, 'input_tokens');
  const output = countAt(usage, 'output_tokens');
  if (input === null || output === null) return null;
  return { input, cached: countAt(usage, 'input_tokens_details', 'cached_tokens') ?? 0, output };
}

/** The last event holds the whole response; servers that leave its output out have sent the items one by one. */
function readStream(body: string): Reading {
  const whole = lastEventOf(body);
  if (isEnd(whole) && listAt(whole, 'response', 'output').length > 0) return readResponse(at(whole, 'response'));
  const items: unknown[] = [];
  for (const value of eventsOf(body).values) {
    const type = textAt(value, 'type');
    if (type === 'error') return { outcome: 'error', error: at(value, 'error') ?? value };
    if (type === 'response.failed') return { outcome: 'error', error: at(value, 'response', 'error') };
    if (type === 'response.output_item.done') items.push(at(value, 'item'));
    if (isEnd(value)) {
      const response = at(value, 'response');
      if (typeof response !== 'object' || response === null) return { outcome: 'foreign' };
      return readResponse(listAt(response, 'output').length > 0 ? response : { ...response, output: items });
    }
    if (type === null && at(value, 'error')) return { outcome: 'error', error: at(value, 'error') };
  }
  return { outcome: 'cut', why: 'its stream ends before the response is complete' };
}

function isEnd(event: unknown): boolean {
  const type = textAt(event, 'type');
  return type === 'response.completed' || type === 'response.incomplete';
}
