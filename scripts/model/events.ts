import { parsedJson } from '../shared/json.ts';

/** The events of a `text/event-stream` body: the JSON of each `data` field in order. */
export interface Events {
  readonly values: readonly unknown[];
  /** Whether the closing `[DONE]` came. */
  readonly done: boolean;
  /** Whether a field held no JSON, as the last one of a cut stream does. */
  readonly damaged: boolean;
}

export function isEventStream(contentType: string | null, body: string): boolean {
  return /^text\/event-stream\b/i.test(contentType ?? '') || /^\s{0,20}(data|event|id|retry)?:/.test(body);
}

export function eventsOf(body: string): Events {
  const values: unknown[] = [];
  let done = false;
  let damaged = false;
  for (const field of dataFields(body)) {
    if (field === '[DONE]') {
      done = true;
      continue;
    }
    const value = parsedJson(field);
    if (value === undefined) damaged = true;
    else values.push(value);
  }
  return { values, done, damaged };
}

/** The last event's JSON, where its `data` is one line: most of a stream need not be parsed. Undefined elsewhere. */
export function lastEventOf(body: string): unknown {
  const end = body.trimEnd();
  const rest = end.endsWith('\ndata: [DONE]') ? end.slice(0, -'data: [DONE]'.length).trimEnd() : end;
  const line = rest.slice(rest.lastIndexOf('\n') + 1);
  return line.startsWith('data:') ? parsedJson(line.slice(5)) : undefined;
}

function* dataFields(body: string): Generator<string> {
  let open: string[] = [];
  for (const raw of body.split('\n')) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (line.startsWith('data:')) open.push(line.slice(line.startsWith('data: ') ? 6 : 5));
    else if (line === '' && open.length > 0) {
      yield open.join('\n');
      open = [];
    }
  }
  if (open.length > 0) yield open.join('\n');
}
