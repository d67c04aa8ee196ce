import { countTokens, truncateMiddle } from '../shared/tokens.ts';
import { inputLimits } from './budget.ts';
import type { Item, Who } from './types.ts';

export interface Rendering {
  /** `[human @12] text`, a row after the other in source order, gaps marked. */
  readonly text: string;
  /** The items that it shows, whole or shortened. Only these can be cited. */
  readonly shown: readonly Item[];
  readonly leftOut: number;
}

/**
 * A rollout within a budget. Who said it decides what stays: the human's words go last. Inside a tier the newest stay;
 * of the human's words the first message as well, since it says what the session is about.
 * @param budget tokens
 * @source design §5; spec §4.6
 */
export function renderItems(items: readonly Item[], budget: number): Rendering {
  return assemble(items, fitsByBytes(items, budget) ? allRows(items) : rowsWithin(items, budget));
}

/** Provenance, the most telling first. */
const tiers: readonly Who[] = ['human', 'assistant', 'other_agent', 'commentary', 'harness', 'tool'];

/** What a gap's line may cost; each row is charged for one. */
const gapTokens = 12;
/** A remainder smaller than this shows nothing that could be understood. */
const leastTokens = 48;
/** More than any label with its line break has. */
const labelBytes = 100;

/** A token has at least one byte: where the bytes fit, nothing has to be counted. */
function fitsByBytes(items: readonly Item[], budget: number): boolean {
  let bytes = 0;
  for (const item of items) {
    bytes += labelBytes + (item.text.length > budget ? budget : Buffer.byteLength(item.text));
    if (bytes > budget) return false;
  }
  return true;
}

function allRows(items: readonly Item[]): Map<number, string> {
  return new Map(items.map((item, place) => [place, rowOf(item)]));
}

function rowsWithin(items: readonly Item[], budget: number): Map<number, string> {
  const rows = new Map<number, string>();
  let left = budget - gapTokens;
  for (const tier of tiers)
    for (const { place, share } of orderOf(tier, placesOf(items, tier))) {
      const item = items[place];
      const room = Math.floor((left - gapTokens) * share);
      if (item === undefined) continue;
      if (room < leastTokens) return rows;
      const row = fitted(rowOf(item), room);
      rows.set(place, row.text);
      left -= row.tokens + gapTokens;
    }
  return rows;
}

function placesOf(items: readonly Item[], tier: Who): number[] {
  const places: number[] = [];
  items.forEach((item, place) => {
    if (item.who === tier) places.push(place);
  });
  return places;
}

/** Newest first. The human's first message comes before them, but leaves them half of what there is. */
function orderOf(tier: Who, places: readonly number[]): { place: number; share: number }[] {
  const first = tier === 'human' && places.length > 1 ? places.slice(0, 1) : [];
  const newest = places.slice(first.length).reverse();
  return [...first.map((place) => ({ place, share: 0.5 })), ...newest.map((place) => ({ place, share: 1 }))];
}

function fitted(row: string, room: number): { text: string; tokens: number } {
  const tokens = countTokens(row);
  return tokens <= room ? { text: row, tokens } : { text: truncateMiddle(row, { tokens: room }), tokens: room };
}

function rowOf(item: Item): string {
  const text = withoutLabels(withoutMedia(bounded(item)));
  return truncateMiddle(`${labelOf(item)} ${text.trim()}`, { bytes: inputLimits.rowBytes });
}

/** Only what can still be seen is worked on: a row shows no more than its limit from either end. */
function bounded(item: Item): string {
  const near = 4 * inputLimits.rowBytes;
  const text = item.text.length <= near ? item.text : truncateMiddle(item.text, { bytes: near });
  return item.kind === 'output' ? truncateMiddle(text, { tokens: inputLimits.outputTokens }) : text;
}

function labelOf(item: Item): string {
  if (item.who !== 'tool') return `[${item.who} @${item.n}]`;
  if (item.kind === 'output') return `[tool @${item.n} output${item.exit === undefined ? '' : `, exit ${item.exit}`}]`;
  const name = (item.tool ?? '').replace(/[^\w.-]+/g, '_').slice(0, 40);
  return `[tool @${item.n} call${name === '' ? '' : ` ${name}`}]`;
}

/** Text at the start of a line that reads like one of our labels or gaps gets its bracket changed. */
function withoutLabels(text: string): string {
  if (!/[[［]/.test(text)) return text;
  return text.replace(
    /(^|[\n\r\u2028\u2029\u0085\v\f])((?:[^\S\n]|[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]){0,400})[[［](?=\s{0,9}(?:human|assistant|commentary|other[_ ]agent|harness|tool|user|system|developer)\s{0,9}[@＠\]］]|…)/gi,
    '$1$2(',
  );
}

/** Readers name media already; this is for rollouts that other programs wrote. */
function withoutMedia(text: string): string {
  return text.replace(/data:([a-z]{1,20})\/[a-z0-9.+-]{1,80};base64,[A-Za-z0-9+/=]{64,}/g, '[$1 omitted]');
}

function assemble(items: readonly Item[], chosen: ReadonlyMap<number, string>): Rendering {
  const rows: string[] = [];
  const shown: Item[] = [];
  let gap = 0;
  items.forEach((item, place) => {
    const row = chosen.get(place);
    if (row === undefined) {
      gap += 1;
      return;
    }
    if (gap > 0) rows.push(gapLine(gap));
    gap = 0;
    rows.push(row);
    shown.push(item);
  });
  if (gap > 0) rows.push(gapLine(gap));
  return { text: rows.join('\n'), shown, leftOut: items.length - shown.length };
}

function gapLine(count: number): string {
  return `[… ${count} item${count === 1 ? '' : 's'} left out …]`;
}
