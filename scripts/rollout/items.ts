import type { EpochSeconds } from '../shared/clock.ts';
import type { ItemNumber } from '../shared/evidence.ts';
import { idsIn, injectedIds, maxSeenIds } from './memory-seen.ts';
import { itemText, toolTextLimit, wordsLimit } from './text.ts';
import { doesOf } from './tools.ts';
import type { Counts, Does, Item, Kind, Who } from './types.ts';

/** What a reader found: an item before it has a number, bounds and a tool. `files` are as the agent wrote them. */
export interface Part {
  readonly who: Who;
  readonly kind: Kind;
  readonly text: string;
  readonly tool?: string;
  readonly does?: Does;
  readonly call?: string;
  readonly exit?: number;
  readonly files?: readonly string[];
  readonly id?: string;
}

/** A person stopped the agent, where its transcript says so without words. */
export const interrupted: Part = { who: 'harness', kind: 'text', text: '[Request interrupted by user]' };

export interface ItemList {
  readonly items: Item[];
  /** The source record that the next items come from. */
  record(line: number, at: EpochSeconds | null): void;
  /** Adds an item, unless it is words and says nothing. `part` is its place in the record, from 1. */
  add(part: number, found: Part): void;
  /** Parts that this record has so far: the next free place is one higher. */
  parts(): number;
  /** A record that gives no item. */
  skip(reason: string): void;
  counts(): Counts;
  /** A text that a program put in and that becomes no item: of the memory in it, or that it is, the ids are kept. */
  inject(text: string, isMemory?: boolean): void;
  injected(): readonly string[];
}

/** Tool texts of one session together; what comes after is cut much shorter. */
const allToolTexts = 48 * 1024 * 1024;
const shortToolText = 2 * 1024;
const maxReasons = 60;

/** @param prefix `''`, or `2:` for the items of the second side file. */
export function itemList(home: string, prefix = ''): ItemList {
  const items: Item[] = [];
  const counts = new Map<string, number>();
  const calls = new Map<string, { tool: string; does: Does }>();
  let line = 0;
  let at: EpochSeconds | null = null;
  let parts = 0;
  let toolTexts = 0;
  const injected = new Set<string>();

  const shaped = (found: Part): string => {
    if (found.who !== 'tool') return itemText(found.text, wordsLimit, home);
    const text = itemText(found.text, toolTexts < allToolTexts ? toolTextLimit : shortToolText, home);
    toolTexts += text.length;
    return text;
  };

  return {
    items,
    record(newLine, newAt) {
      if (newLine !== line) parts = 0;
      line = newLine;
      at = newAt;
    },
    add(part, found) {
      parts = Math.max(parts, part);
      const text = shaped(found);
      if (found.kind === 'text' && text.trim() === '') return;
      const call = found.call === undefined ? undefined : calls.get(found.call);
      const tool = found.tool ?? call?.tool;
      const does = found.does ?? call?.does ?? (tool === undefined ? undefined : doesOf(tool));
      if (found.kind === 'call' && found.call !== undefined && tool !== undefined && does !== undefined)
        calls.set(found.call, { tool, does });
      items.push({
        n: numberOf(prefix, line, part),
        at,
        who: found.who,
        kind: found.kind,
        text,
        ...(tool === undefined ? {} : { tool: itemText(tool, 200, home) }),
        ...(does === undefined ? {} : { does }),
        ...(found.call === undefined ? {} : { call: itemText(found.call, 200, home) }),
        ...(found.exit === undefined ? {} : { exit: found.exit }),
        ...(found.files === undefined || found.files.length === 0 ? {} : { files: found.files.slice(0, 200) }),
        src: { line, ...(found.id === undefined ? {} : { id: itemText(found.id, 200, home) }) },
      });
    },
    parts: () => parts,
    skip(reason) {
      const known = counts.has(reason) || counts.size < maxReasons ? reason : 'unknown:…';
      counts.set(known, (counts.get(known) ?? 0) + 1);
    },
    counts: () => Object.fromEntries(counts),
    inject(text, isMemory = false) {
      for (const id of isMemory ? idsIn(text) : injectedIds(text)) if (injected.size < maxSeenIds) injected.add(id);
    },
    injected: () => [...injected],
  };
}

/** `unknown:<type>`; what no program would call a type becomes `?`. */
export function unknownType(type: unknown): string {
  return `unknown:${typeof type === 'string' && /^[\w.:/-]{1,60}$/.test(type) ? type : '?'}`;
}

function numberOf(prefix: string, line: number, part: number): ItemNumber {
  return part === 1 ? `${prefix}${line}` : `${prefix}${line}.${part}`;
}
