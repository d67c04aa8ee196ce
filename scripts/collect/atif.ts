import type { Item, Rollout, Who } from '../rollout/types.ts';
import { isoTime } from '../shared/clock.ts';
import { parsedJson } from '../shared/json.ts';

/**
 * A rollout as an ATIF v1.7 document: one step an item, an output joined to the step of its call. What the format has
 * no field for (repository, who exactly spoke, exit status, evidence number) stands in `extra`.
 * @source Harbor's Agent Trajectory Interchange Format, ATIF-v1.7
 */
export function atifOf({ thread, source, skipped, redaction, items }: Rollout): object {
  const steps: Step[] = [];
  const byCall = new Map<string, Step>();
  for (const item of items) {
    const call = item.kind === 'output' && item.call !== undefined ? byCall.get(item.call) : undefined;
    if (call !== undefined) {
      call.observation ??= { results: [] };
      call.observation.results.push(resultOf(item));
      continue;
    }
    const step = stepOf(item, steps.length + 1);
    steps.push(step);
    if (item.kind === 'call' && item.call !== undefined) byCall.set(item.call, step);
  }
  return {
    schema_version: 'ATIF-v1.7',
    session_id: thread.id,
    agent: { name: thread.agent, version: 'unknown' },
    steps,
    extra: {
      repo: thread.repo,
      cwd: thread.cwd,
      branch: thread.branch,
      commit: thread.commit,
      author: thread.author,
      title: thread.title,
      origin: thread.origin,
      started_at: isoTime(thread.startedAt),
      updated_at: isoTime(thread.updatedAt),
      source: { lines: source.lines, bytes: source.bytes, sha256: source.sha256 },
      skipped,
      redaction,
    },
  };
}

interface Result {
  readonly source_call_id: string | null;
  readonly content: string;
  readonly extra: object;
}

interface Step {
  readonly step_id: number;
  readonly timestamp?: string;
  readonly source: 'system' | 'user' | 'agent';
  readonly message: string;
  readonly tool_calls?: readonly {
    readonly tool_call_id: string;
    readonly function_name: string;
    readonly arguments: object;
  }[];
  observation?: { readonly results: Result[] };
  readonly extra: object;
}

const sourceOf: Readonly<Record<Who, Step['source']>> = {
  human: 'user',
  assistant: 'agent',
  commentary: 'agent',
  other_agent: 'agent',
  tool: 'agent',
  harness: 'system',
};

function stepOf(item: Item, id: number): Step {
  const { n, at, who, kind, text, tool, call, does, files } = item;
  const head = {
    step_id: id,
    ...(at === null ? {} : { timestamp: isoTime(at) }),
    source: kind === 'call' ? 'agent' : sourceOf[who],
  } as const;
  const extra = { n, who, ...(does === undefined ? {} : { does }), ...(files === undefined ? {} : { files }) };
  if (kind === 'text') return { ...head, message: text, extra };
  if (kind === 'output') return { ...head, message: '', observation: { results: [resultOf(item)] }, extra };
  const called = { tool_call_id: call ?? `n${n}`, function_name: tool ?? 'unknown', arguments: argumentsOf(item) };
  return { ...head, message: '', tool_calls: [called], extra };
}

function resultOf({ n, text, call, exit }: Item): Result {
  return { source_call_id: call ?? null, content: text, extra: { n, ...(exit === undefined ? {} : { exit }) } };
}

/** A shell call's text is its command line; another's is JSON, or a patch. */
function argumentsOf({ does, text }: Item): object {
  if (does === 'shell') return { command: text };
  const value = parsedJson(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { input: text };
}
