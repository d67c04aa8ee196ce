import type { IncomingHttpHeaders } from 'node:http';
import { jsonFields } from '../shared/json.ts';

/** What a request wants: what one rollout taught, a consolidation, or a turn of an ordinary session. */
export type CallKind = 'extraction' | 'consolidation' | 'turn';

/** Ours and Codex' alike: an extraction asks for JSON under a schema; a consolidation is said to be one, or has our tools. */
export function kindOf(headers: IncomingHttpHeaders, body: string): CallKind {
  const request: { text?: { format?: { type?: unknown } }; tools?: readonly { name?: unknown }[] } = JSON.parse(body);
  if (request.text?.format?.type === 'json_schema') return 'extraction';
  if (headers['x-openai-subagent'] === 'memory_consolidation') return 'consolidation';
  const names = new Set((request.tools ?? []).map(({ name }) => name));
  return ['read', 'write', 'edit', 'delete'].every((name) => names.has(name)) ? 'consolidation' : 'turn';
}

/** What is known of the calls since the last mark. Times are milliseconds of a clock that `elapsed` reads. */
export interface CallLog {
  mark(): void;
  came(kind: CallKind): void;
  answered(kind: CallKind): void;
  seen(): CallsSeen;
}

export interface CallsSeen {
  /** Extractions that were answered. */
  readonly extractions: number;
  /** Since the last of them was answered; null for none. */
  readonly idleMs: number | null;
  /** From the last answer before it, or from the mark where there was none, to the first consolidation; null for none. */
  readonly preparationMs: number | null;
}

export function openCallLog(elapsed: () => number): CallLog {
  let begun = elapsed();
  let extractions = 0;
  let answeredAt: number | null = null;
  let preparationMs: number | null = null;
  return {
    mark() {
      [begun, extractions, answeredAt, preparationMs] = [elapsed(), 0, null, null];
    },
    came(kind) {
      if (kind === 'consolidation') preparationMs ??= elapsed() - (answeredAt ?? begun);
    },
    answered(kind) {
      if (kind !== 'extraction') return;
      extractions += 1;
      answeredAt = elapsed();
    },
    seen: () => ({ extractions, idleMs: answeredAt === null ? null : elapsed() - answeredAt, preparationMs }),
  };
}

/** What `seen` returned, as the server sends it. */
export function parseCalls(text: string): CallsSeen {
  const { extractions, idleMs, preparationMs } = jsonFields(text);
  const orNull = (value: unknown) => (typeof value === 'number' ? value : null);
  return { extractions: Number(extractions), idleMs: orNull(idleMs), preparationMs: orNull(preparationMs) };
}
