import type { ModelRequest } from './types.ts';

/** How one server is spoken to. Each field starts with the best and is weakened where the server refuses it. */
export interface Dialect {
  readonly wire: 'responses' | 'chat';
  readonly format: 'json_schema' | 'json_object' | 'plain';
  readonly stream: boolean;
  /** `stream_options`, which asks for the token counts of a streamed chat. */
  readonly streamUsage: boolean;
  readonly outputLimit: 'max_completion_tokens' | 'max_tokens';
  readonly effort: boolean;
  readonly strictTools: boolean;
  readonly store: boolean;
}

export type Wire = 'auto' | 'chat' | 'responses';

/** What a server said when it refused a request. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly param: string;
  /** Its message and, where that is no plain text, the rest of its body. */
  readonly words: string;
}

export function firstDialect(wire: Wire, stream: boolean): Dialect {
  return {
    wire: wire === 'chat' ? 'chat' : 'responses',
    format: 'json_schema',
    stream,
    streamUsage: true,
    outputLimit: 'max_completion_tokens',
    effort: true,
    strictTools: true,
    store: true,
  };
}

/**
 * The next weaker dialect after a refusal that names one of its means, or null where nothing can be weakened. Each step
 * goes down, so that a chain of refusals ends.
 */
export function weakened(dialect: Dialect, refusal: Refusal, request: ModelRequest, wire: Wire): Dialect | null {
  if (wire === 'auto' && dialect.wire === 'responses' && routeUnknown(refusal)) return { ...dialect, wire: 'chat' };
  if (![400, 404, 422].includes(refusal.status)) return null;
  const step = steps.find((candidate) => candidate.sent(dialect, request) && names(refusal, candidate.name));
  return step === undefined ? null : { ...dialect, ...step.weaker(dialect) };
}

/** `known` with what has been weakened on the way from `before` to `after`: several requests may learn at a time. */
export function learned(known: Dialect, before: Dialect, after: Dialect): Dialect {
  const changed = Object.entries(after).filter(([name, value]) => Reflect.get(before, name) !== value);
  return { ...known, ...Object.fromEntries(changed) };
}

/** Whether a refusal says that the model or the server has no tools. */
export function refusesTools(refusal: Refusal): boolean {
  const name = /\btools?\b|\btool_choice\b|\bfunction.?call/i;
  return [400, 404, 422, 501].includes(refusal.status) && names(refusal, name) && refused.test(refusal.words);
}

interface Step {
  readonly name: RegExp;
  sent(dialect: Dialect, request: ModelRequest): boolean;
  weaker(dialect: Dialect): Partial<Dialect>;
}

const steps: readonly Step[] = [
  {
    name: /\bstream_options\b|\binclude_usage\b/i,
    sent: (dialect) => dialect.wire === 'chat' && dialect.stream && dialect.streamUsage,
    weaker: () => ({ streamUsage: false }),
  },
  {
    name: /\bresponse_format\b|\btext\.format\b|\bjson_schema\b|\bjson_object\b|\bstructured.?outputs?\b|\bguided_json\b/i,
    sent: (dialect, request) => request.schema !== undefined && dialect.format !== 'plain',
    weaker: (dialect) => ({ format: dialect.format === 'json_schema' ? 'json_object' : 'plain' }),
  },
  {
    name: /\bmax_completion_tokens\b/i,
    sent: (dialect) => dialect.wire === 'chat' && dialect.outputLimit === 'max_completion_tokens',
    weaker: () => ({ outputLimit: 'max_tokens' }),
  },
  {
    name: /\breasoning(_effort|\.effort)?\b/i,
    sent: (dialect, request) => request.effort !== undefined && dialect.effort,
    weaker: () => ({ effort: false }),
  },
  {
    name: /\bstore\b/i,
    sent: (dialect) => dialect.wire === 'responses' && dialect.store,
    weaker: () => ({ store: false }),
  },
  {
    name: /\bstrict\b/i,
    sent: (dialect, request) => request.tools !== undefined && dialect.strictTools,
    weaker: () => ({ strictTools: false }),
  },
  {
    name: /\bstream(ing|ed)?\b/i,
    sent: (dialect) => dialect.stream,
    weaker: () => ({ stream: false }),
  },
];

const refused =
  /unsupported|not (been )?(support|permit|allow|recogni|implement|available|enabled)|does(n't| not) (support|accept|have)|unknown|unrecogni|unexpected|extra|additional propert|invalid|forbidden|instead|must be verified|unavailable/i;

/** The server names the parameter by `param`, or in words of refusal: a wrong value alone is no refusal. */
function names(refusal: Refusal, name: RegExp): boolean {
  return (name.test(refusal.param) || name.test(refusal.words)) && refused.test(`${refusal.code} ${refusal.words}`);
}

/** Whether a refusal says that the server has no such route. */
export function routeUnknown(refusal: Refusal): boolean {
  const { status, code, words } = refusal;
  if (status === 405 || status === 501) return true;
  if (status === 404)
    return code !== 'model_not_found' && !/\bmodel\b.{0,200}\b(does not exist|not found)\b/i.test(words);
  if (status !== 400 && status !== 422 && status !== 500) return false;
  return (
    (/\b(endpoint|route|path|url|method)\b/i.test(words) && refused.test(words)) ||
    (/\bmessages\b/i.test(words) && /missing|required/i.test(words))
  );
}
