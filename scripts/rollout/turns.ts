import type { Item } from './types.ts';

/** What a record says of the model's message that it is a part of. */
export interface Spoken {
  readonly message: string;
  /** Why the message ended; older versions wrote none. */
  readonly stop: string | null;
  readonly calls: boolean;
}

/**
 * Tells the model's final words of a turn from those on the way: final is a message that ended by itself, or, where no
 * line says how it ended, the last one before the next turn if it calls no tool.
 * @param spoken by line number.
 * @param turnStarts line numbers, ascending, at which somebody else spoke.
 */
export function finalWords(
  items: readonly Item[],
  spoken: ReadonlyMap<number, Spoken>,
  turnStarts: readonly number[],
): Item[] {
  const calling = new Set<string>();
  for (const { message, stop, calls } of spoken.values()) if (calls || stop === 'tool_use') calling.add(message);
  const last = lastMessages(spoken, turnStarts);
  return items.map((item) => {
    const said = item.who === 'commentary' ? spoken.get(item.src.line) : undefined;
    if (said === undefined || calling.has(said.message)) return item;
    return said.stop !== null || last.has(said.message) ? { ...item, who: 'assistant' } : item;
  });
}

function lastMessages(spoken: ReadonlyMap<number, Spoken>, turnStarts: readonly number[]): Set<string> {
  const last = new Set<string>();
  const lines = [...spoken.keys()];
  let next = 0;
  for (const [index, line] of lines.entries()) {
    while (next < turnStarts.length && (turnStarts[next] ?? 0) < line) next += 1;
    const following = lines[index + 1] ?? Number.POSITIVE_INFINITY;
    const turn = turnStarts[next] ?? Number.POSITIVE_INFINITY;
    if (following === Number.POSITIVE_INFINITY || turn < following) last.add(spoken.get(line)?.message ?? '');
  }
  return last;
}
