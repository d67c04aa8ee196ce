import type { EpochSeconds } from '../shared/clock.ts';
import { type Fields, integerOf, textOf } from './fields.ts';
import { itemList, type Part } from './items.ts';
import type { Item } from './types.ts';

/** Keeps the exit status that an event gives for a call. */
export function noteExit(payload: Fields, exits: Map<string, number>): void {
  const call = textOf(payload.call_id);
  if (call === null) return;
  const code = payload.type === 'exec_command_end' ? integerOf(payload.exit_code) : null;
  if (code !== null) exits.set(call, code);
  if (payload.type === 'patch_apply_end' && typeof payload.success === 'boolean')
    exits.set(call, payload.success ? 0 : 1);
}

/** Outputs that say no exit status get the one that an event gave for their call. */
export function withExits(items: readonly Item[], exits: ReadonlyMap<string, number>): Item[] {
  return items.map((item) => {
    const exit = item.call === undefined || item.kind !== 'output' ? undefined : exits.get(item.call);
    return item.exit !== undefined || exit === undefined ? item : { ...item, exit };
  });
}

/** A compaction's summary also stands there as the model's final words: it is the harness's. */
export function withoutSummaries(items: readonly Item[], summaries: readonly string[]): Item[] {
  if (summaries.length === 0) return [...items];
  return items.map((item) => {
    const words = item.text.trim();
    const isSummary = item.who === 'assistant' && words.length >= 20 && summaries.some((text) => text.includes(words));
    return isSummary ? { ...item, who: 'harness' } : item;
  });
}

/**
 * Adds what only events say: a person's words that no message holds, and the model's where no message of its is there
 * at all. Beside response items, events repeat them and are dropped.
 */
export function withEvents(
  items: readonly Item[],
  events: readonly { line: number; at: EpochSeconds | null; found: Part }[],
  home: string,
): Item[] {
  const told = itemList(home);
  const hasModel = items.some((item) => item.who === 'assistant' || item.who === 'commentary');
  const said = new Set(items.filter((item) => item.who === 'human').map((item) => withoutMediaNames(item.text)));
  const added = new Set<string>();
  for (const { line, at, found } of events) {
    told.record(line, at);
    told.add(1, found);
  }
  const missing = told.items.filter((item) => {
    const key = `${item.who}\u0000${item.text}`;
    if (added.has(key) && item.who !== 'human') return false;
    if (item.who === 'human' ? said.has(withoutMediaNames(item.text)) : hasModel) return false;
    added.add(key);
    return true;
  });
  return missing.length === 0 ? [...items] : [...items, ...missing].sort((a, b) => a.src.line - b.src.line);
}

function withoutMediaNames(text: string): string {
  return text.replace(/\n?\[(?:image|audio) omitted\]/g, '').trim();
}
