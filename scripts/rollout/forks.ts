import type { ItemNumber } from '../shared/evidence.ts';
import { byBinary } from '../shared/files.ts';
import { safeThreadId, sha256 } from '../shared/thread-id.ts';
import type { Session } from './reader.ts';
import type { Agent, Item } from './types.ts';

/** What is kept of a session to compare it with the others: no texts, and of what only an agent wrote its hash. */
export interface Outline {
  /** The thread's. */
  readonly id: string;
  readonly agent: Agent;
  /** As `hashed` has their ids. */
  readonly parents: readonly string[];
  /** None where an agent's sessions repeat nothing. */
  readonly items: readonly OutlineItem[];
}

export interface OutlineItem {
  readonly n: ItemNumber;
  readonly at: number | null;
  /** Equal in copies of the item; '' where nothing tells a copy. */
  readonly mark: string;
}

/** @param id the thread's. */
export function outlineOf(session: Session, id: string): Outline {
  const { agent } = session.source;
  return {
    id,
    agent,
    parents: session.parents.map((parent) => hashed(safeThreadId(parent))),
    items: comparesItems(agent)
      ? session.items.map((item) => ({ n: item.n, at: item.at, mark: hashed(markOf(item, agent)) }))
      : [],
  };
}

/** The first 64 bits of a text's sha256, in hexadecimal; nothing of nothing. */
export function hashed(text: string): string {
  return text === '' ? '' : sha256(text).slice(0, 16);
}

/**
 * What sessions that repeat each other have in common, hashed: their ids, their parents', and where copies keep a record's
 * own id the first one's. To know what one repeats it is enough to read those that share one of these with it.
 */
export function kinOf({ id, agent, parents, items }: Outline): string[] {
  const first = keepsIds.has(agent) ? (items[0]?.mark ?? '') : '';
  return [hashed(id), ...parents, ...(first === '' ? [] : [first])];
}

/**
 * The items that sessions only copied, by session id: they count in the session that they come from. The forks of some
 * agents keep each record's id; of the sessions that share one it stays with the earliest (`ancestryOrder`). Codex's forks
 * name their parent and start with its items: what both begin with is the parent's.
 */
export function repeatsIn(outlines: readonly Outline[]): Map<string, Set<ItemNumber>> {
  return new Map([
    ...[...keepsIds].flatMap((agent) => [...sharedIds(outlines.filter((outline) => outline.agent === agent))]),
    ...sharedStarts(outlines.filter((outline) => outline.agent === 'codex')),
  ]);
}

/** Agents whose forks keep the ids of the records that they copy. */
const keepsIds: ReadonlySet<Agent> = new Set(['claude-code', 'copilot', 'pi']);

function comparesItems(agent: Agent): boolean {
  return keepsIds.has(agent) || agent === 'codex';
}

/** pi's ids have 32 bits: two sessions may draw the same one, but not in the same second. */
function markOf({ at, who, kind, text, src }: Item, agent: Agent): string {
  if (agent === 'codex') return `${who} ${kind} ${text.length} ${text.slice(0, 60)}`;
  if (src.id === undefined) return '';
  return agent === 'pi' ? `${src.id}@${at ?? ''}` : src.id;
}

function sharedIds(outlines: readonly Outline[]): Map<string, Set<ItemNumber>> {
  const holders = new Map<string, number>();
  for (const outline of outlines)
    for (const mark of new Set(outline.items.map((item) => item.mark))) holders.set(mark, (holders.get(mark) ?? 0) + 1);
  holders.delete('');

  const repeats = new Map<string, Set<ItemNumber>>();
  const taken = new Set<string>();
  for (const outline of ancestryOrder(outlines, holders)) {
    const copied = outline.items.filter((item) => taken.has(item.mark));
    if (copied.length > 0) repeats.set(outline.id, new Set(copied.map((item) => item.n)));
    for (const item of outline.items) if ((holders.get(item.mark) ?? 0) > 1) taken.add(item.mark);
  }
  return repeats;
}

/**
 * Originals first: fewer sessions that a session says it grew from; then the earlier first item of its own, where none
 * counts as earliest; then the id.
 */
function ancestryOrder(outlines: readonly Outline[], holders: ReadonlyMap<string, number>): Outline[] {
  const ownStart = (outline: Outline): number =>
    outline.items.find((item) => holders.get(item.mark) === 1 && item.at !== null)?.at ?? 0;
  return outlines
    .map((outline) => ({ outline, start: ownStart(outline) }))
    .sort(
      (a, b) =>
        a.outline.parents.length - b.outline.parents.length ||
        a.start - b.start ||
        byBinary(a.outline.id, b.outline.id),
    )
    .map(({ outline }) => outline);
}

function sharedStarts(outlines: readonly Outline[]): Map<string, Set<ItemNumber>> {
  const byId = new Map(outlines.map((outline) => [hashed(outline.id), outline]));
  const repeats = new Map<string, Set<ItemNumber>>();
  for (const outline of outlines) {
    const parent = outline.parents.map((id) => byId.get(id)).find((found) => found !== undefined);
    const copied = outline.items.findIndex((item, index) => item.mark !== parent?.items[index]?.mark);
    const count = copied === -1 ? outline.items.length : copied;
    if (count > 0) repeats.set(outline.id, new Set(outline.items.slice(0, count).map((item) => item.n)));
  }
  return repeats;
}
