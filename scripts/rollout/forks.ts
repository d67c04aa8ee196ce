import type { ItemNumber } from '../shared/evidence.ts';
import { byBinary } from '../shared/files.ts';
import type { Session } from './reader.ts';
import type { Agent } from './types.ts';

/** What is kept of a session to compare it with the others: no texts. */
export interface Outline {
  readonly id: string;
  readonly agent: Agent;
  readonly parents: readonly string[];
  readonly items: readonly {
    readonly n: ItemNumber;
    readonly at: number | null;
    readonly id: string;
    readonly key: string;
  }[];
}

export function outlineOf(session: Session): Outline {
  return {
    id: session.id,
    agent: session.source.agent,
    parents: session.parents,
    items: session.items.map(({ n, at, who, kind, text, src }) => ({
      n,
      at,
      id: src.id === undefined ? '' : recordId(session.source.agent, src.id, at),
      key: `${who} ${kind} ${text.length} ${text.slice(0, 60)}`,
    })),
  };
}

/**
 * What sessions that repeat each other have in common: their ids, their parents', and where copies keep a record's own id
 * the first one's. To know what one repeats it is enough to read those that share one of these with it.
 */
export function kinOf({ id, agent, parents, items }: Outline): string[] {
  const first = keepsIds.has(agent) ? (items[0]?.id ?? '') : '';
  return [id, ...parents, ...(first === '' ? [] : [first])];
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

/** pi's ids have 32 bits: two sessions may draw the same one, but not in the same second. */
function recordId(agent: Agent, id: string, at: number | null): string {
  return agent === 'pi' ? `${id}@${at ?? ''}` : id;
}

function sharedIds(outlines: readonly Outline[]): Map<string, Set<ItemNumber>> {
  const holders = new Map<string, number>();
  for (const outline of outlines)
    for (const id of new Set(outline.items.map((item) => item.id))) holders.set(id, (holders.get(id) ?? 0) + 1);
  holders.delete('');

  const repeats = new Map<string, Set<ItemNumber>>();
  const taken = new Set<string>();
  for (const outline of ancestryOrder(outlines, holders)) {
    const copied = outline.items.filter((item) => taken.has(item.id));
    if (copied.length > 0) repeats.set(outline.id, new Set(copied.map((item) => item.n)));
    for (const item of outline.items) if ((holders.get(item.id) ?? 0) > 1) taken.add(item.id);
  }
  return repeats;
}

/**
 * Originals first: fewer sessions that a session says it grew from; then the earlier first item of its own, where none
 * counts as earliest; then the id.
 */
function ancestryOrder(outlines: readonly Outline[], holders: ReadonlyMap<string, number>): Outline[] {
  const ownStart = (outline: Outline): number =>
    outline.items.find((item) => holders.get(item.id) === 1 && item.at !== null)?.at ?? 0;
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
  const byId = new Map(outlines.map((outline) => [outline.id, outline]));
  const repeats = new Map<string, Set<ItemNumber>>();
  for (const outline of outlines) {
    const parent = outline.parents.map((id) => byId.get(id)).find((found) => found !== undefined);
    const copied = outline.items.findIndex((item, index) => item.key !== parent?.items[index]?.key);
    const count = copied === -1 ? outline.items.length : copied;
    if (count > 0) repeats.set(outline.id, new Set(outline.items.slice(0, count).map((item) => item.n)));
  }
  return repeats;
}
