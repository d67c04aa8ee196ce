import type { ApiError, RecordedRequest, Wire } from './api-types.ts';

/** What a server cannot do; it refuses as the servers do that cannot. */
export interface Abilities {
  readonly responses?: boolean;
  readonly jsonSchema?: boolean;
  readonly jsonObject?: boolean;
  readonly tools?: boolean;
  readonly maxCompletionTokens?: boolean;
  readonly reasoningEffort?: boolean;
  readonly stream?: boolean;
  readonly streamOptions?: boolean;
}

/** @param apiKey the one that is known; undefined: any will do. */
export function refuseKey(
  request: RecordedRequest,
  apiKey: string | undefined,
): { status: number; error: ApiError } | null {
  if (apiKey === undefined || request.headers.authorization === `Bearer ${apiKey}`) return null;
  const given = (request.headers.authorization ?? '').replace('Bearer ', '');
  const message = `Incorrect API key provided: ${given}.`;
  return { status: 401, error: { message, type: 'invalid_request_error', code: 'invalid_api_key' } };
}

/** What OpenAI or a lesser server answers before its model sees the request. */
export function refuse(
  request: RecordedRequest,
  wire: Wire,
  options: { readonly abilities?: Abilities; readonly apiKey?: string },
): { status: number; error: ApiError } | null {
  const { abilities = {}, apiKey } = options;
  const { body } = request;
  const unknown = refuseKey(request, apiKey);
  if (unknown !== null) return unknown;
  if (typeof body.model !== 'string') return bad('you must provide a model parameter', 'model');
  const turns = wire === 'chat' ? body.messages : body.input;
  if (!Array.isArray(turns) || turns.length === 0)
    return bad(`Missing required parameter: '${wire === 'chat' ? 'messages' : 'input'}'.`, 'messages');
  const orphan = orphanedResult(turns, wire);
  if (orphan !== null) return bad(orphan, wire === 'chat' ? 'messages' : 'input');
  const format = formatOf(body, wire);
  const formatName = wire === 'chat' ? 'response_format' : 'text.format';
  if (format === 'json_schema' && abilities.jsonSchema === false)
    return bad(
      `Invalid parameter: '${formatName}' of type 'json_schema' is not supported with this model.`,
      formatName,
    );
  if (format === 'json_object' && abilities.jsonObject === false)
    return bad(`'${formatName}' of type 'json_object' is not supported.`, formatName);
  if (format === 'json_object' && !request.texts.some((text) => /json/i.test(text)))
    return bad(
      `'messages' must contain the word 'json' in some form, to use '${formatName}' of type 'json_object'.`,
      'messages',
    );
  const loose = looseSchema(body, wire);
  if (loose !== null) return bad(`Invalid schema for ${formatName}: In context=(), ${loose}.`, formatName);
  if (body.tools !== undefined && abilities.tools === false) return bad(`${body.model} does not support tools`, '');
  if (body.max_completion_tokens !== undefined && abilities.maxCompletionTokens === false)
    return {
      status: 422,
      error: {
        message:
          "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted'}]",
      },
    };
  if ((body.reasoning_effort ?? body.reasoning) !== undefined && abilities.reasoningEffort === false)
    return bad("Unsupported parameter: 'reasoning_effort' is not supported with this model.", 'reasoning_effort');
  if (body.stream_options !== undefined && abilities.streamOptions === false)
    return bad('Unknown parameter: stream_options', 'stream_options');
  if (body.stream === true && abilities.stream === false)
    return bad('Your organization must be verified to stream this model.', 'stream');
  return null;
}

function bad(message: string, param: string): { status: number; error: ApiError } {
  return { status: 400, error: { message, type: 'invalid_request_error', param } };
}

function formatOf(body: RecordedRequest['body'], wire: Wire): string | null {
  const format = wire === 'chat' ? body.response_format : (body.text as { format?: unknown } | undefined)?.format;
  return (format as { type?: string } | undefined)?.type ?? null;
}

/** A tool's result whose call was never made: refused, as OpenAI does. */
function orphanedResult(turns: readonly Record<string, unknown>[], wire: Wire): string | null {
  const known = new Set<unknown>();
  for (const turn of turns) {
    if (turn.type === 'function_call') known.add(turn.call_id);
    for (const call of (turn.tool_calls as { id: string }[] | undefined) ?? []) known.add(call.id);
    const answered =
      wire === 'chat'
        ? turn.role === 'tool'
          ? turn.tool_call_id
          : undefined
        : turn.type === 'function_call_output'
          ? turn.call_id
          : undefined;
    if (answered !== undefined && !known.has(answered))
      return `No tool call found for tool output with call_id ${String(answered)}.`;
  }
  return null;
}

/** Strict mode wants every property required and none additional. */
function looseSchema(body: RecordedRequest['body'], wire: Wire): string | null {
  const holder = (
    wire === 'chat'
      ? (body.response_format as { json_schema?: unknown } | undefined)?.json_schema
      : (body.text as { format?: unknown } | undefined)?.format
  ) as
    | { strict?: boolean; schema?: { properties?: object; required?: string[]; additionalProperties?: boolean } }
    | undefined;
  const schema = holder?.schema;
  if (schema === undefined || holder?.strict !== true) return null;
  if (schema.additionalProperties !== false) return "'additionalProperties' is required to be supplied and to be false";
  const missing = Object.keys(schema.properties ?? {}).filter((name) => !(schema.required ?? []).includes(name));
  return missing.length === 0
    ? null
    : `'required' is required to include every key in properties, missing '${missing[0]}'`;
}
