import type { Answer, RecordedRequest, ScriptedCall, Wire } from './api-types.ts';

/** The whole body of an answer, streamed where the request asks for it. */
export function rendered(request: RecordedRequest, wire: Wire, answer: Answer): { body: string; contentType: string } {
  const isStream = request.body.stream === true;
  const includeUsage = (request.body.stream_options as { include_usage?: boolean } | undefined)?.include_usage === true;
  const model = String(request.body.model);
  const full = answer.withoutUsage ? answer : { ...answer, usage: answer.usage ?? countedUsage(request, answer) };
  if (!isStream)
    return {
      body: JSON.stringify(wire === 'chat' ? completion(full, model) : response(full, model)),
      contentType: 'application/json',
    };
  return {
    body: wire === 'chat' ? chatStream(full, model, includeUsage) : responsesStream(full, model),
    contentType: 'text/event-stream; charset=utf-8',
  };
}

/** Four characters a token: nobody asserts more than that it is there. */
function countedUsage(request: RecordedRequest, answer: Answer) {
  const input = request.texts.reduce((sum, text) => sum + text.length, 0);
  return {
    input: Math.ceil(input / 4),
    cached: 0,
    output: Math.ceil((answer.text ?? answer.refusal ?? '').length / 4),
  };
}

function chatFinish(answer: Answer): string {
  return answer.finish ?? ((answer.calls?.length ?? 0) > 0 ? 'tool_calls' : 'stop');
}

function chatCalls(answer: Answer) {
  return answer.calls?.map((call, index) => ({
    id: call.id ?? `call_${index + 1}`,
    type: 'function',
    function: { name: call.name, arguments: argumentsOf(call) },
  }));
}

function argumentsOf(call: ScriptedCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
}

function chatUsage(answer: Answer) {
  if (answer.usage === undefined) return undefined;
  const { input, cached = 0, output } = answer.usage;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

function completion(answer: Answer, model: string) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer.refusal === undefined ? (answer.text ?? (answer.calls ? null : '')) : null,
          refusal: answer.refusal ?? null,
          tool_calls: chatCalls(answer),
        },
        logprobs: null,
        finish_reason: chatFinish(answer),
      },
    ],
    usage: chatUsage(answer),
  };
}

function chatStream(answer: Answer, model: string, includeUsage: boolean): string {
  const chunk = (choices: unknown[], usage?: unknown) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model,
    choices,
    ...(usage === undefined ? {} : { usage }),
  });
  const delta = (content: object, finish: string | null = null) =>
    chunk([{ index: 0, delta: content, finish_reason: finish }]);
  const chunks = [
    delta({ role: 'assistant', content: '' }),
    ...pieces(answer.text ?? '').map((content) => delta({ content })),
    ...pieces(answer.refusal ?? '').map((refusal) => delta({ refusal })),
    ...(chatCalls(answer) ?? []).flatMap((call, index) => [
      delta({
        tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.function.name, arguments: '' } }],
      }),
      ...pieces(call.function.arguments).map((part) =>
        delta({ tool_calls: [{ index, function: { arguments: part } }] }),
      ),
    ]),
    delta({}, chatFinish(answer)),
    ...(includeUsage && answer.usage !== undefined ? [chunk([], chatUsage(answer))] : []),
  ];
  return `${chunks.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('')}data: [DONE]\n\n`;
}

function response(answer: Answer, model: string) {
  const incomplete =
    answer.finish === 'length' ? 'max_output_tokens' : answer.finish === 'content_filter' ? 'content_filter' : null;
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_790_000_000,
    status: incomplete === null ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: incomplete === null ? null : { reason: incomplete },
    model,
    output: outputItems(answer),
    usage: responsesUsage(answer),
  };
}

function outputItems(answer: Answer) {
  const content =
    answer.refusal === undefined
      ? [{ type: 'output_text', text: answer.text ?? '', annotations: [] }]
      : [{ type: 'refusal', refusal: answer.refusal }];
  const hasMessage = answer.text !== undefined || answer.refusal !== undefined || answer.calls === undefined;
  return [
    ...(hasMessage ? [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }] : []),
    ...(chatCalls(answer) ?? []).map((call, index) => ({
      id: `fc_${index + 1}`,
      type: 'function_call',
      status: 'completed',
      call_id: call.id,
      name: call.function.name,
      arguments: call.function.arguments,
    })),
  ];
}

function responsesUsage(answer: Answer) {
  if (answer.usage === undefined) return undefined;
  const { input, cached = 0, output } = answer.usage;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}

function responsesStream(answer: Answer, model: string): string {
  const whole = response(answer, model);
  const started = { ...whole, status: 'in_progress', output: [], usage: null };
  const events: Record<string, unknown>[] = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...pieces(answer.text ?? '').map((delta) => ({
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta,
    })),
    ...whole.output.map((item, index) => ({ type: 'response.output_item.done', output_index: index, item })),
    { type: whole.status === 'completed' ? 'response.completed' : 'response.incomplete', response: whole },
  ];
  return events
    .map(
      (event, index) =>
        `event: ${String(event.type)}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`,
    )
    .join('');
}

function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,20}/gu) ?? [];
}
