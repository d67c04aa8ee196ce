import type { Scope } from './layout.ts';
import { isContent, type Leaf, type Outline } from './merge-outline.ts';
import { rewordings } from './merge-pairs.ts';
import { matchParts } from './merge-parts.ts';

/** One thing as the three versions have it. */
export interface Versions<T> {
  readonly base: T;
  readonly ours: T;
  readonly theirs: T;
}

/** null where a version does not have it; never in all three. */
export type Standing<T> = Versions<T | null>;

export interface AlignedLeaf extends Standing<Leaf> {
  /** Of the block it stands in. */
  readonly scopes: Standing<Scope>;
}

/** A heading with what stands below it; each list in its version's order, of shared entries. */
export interface Aligned extends Standing<Outline> {
  readonly leaves: Versions<readonly AlignedLeaf[]>;
  readonly parts: Versions<readonly Aligned[]>;
}

/** What each scope says, wherever in it. */
export type Tokens = ReadonlyMap<Scope, ReadonlySet<string>>;

export function tokensOf(roots: readonly Outline[]): Tokens {
  const tokens = new Map<Scope, Set<string>>();
  const walk = (node: Outline) => {
    const own = tokens.get(node.scope) ?? new Set<string>();
    tokens.set(node.scope, own);
    for (const leaf of node.leaves) if (isContent(leaf)) own.add(leaf.token);
    for (const part of node.parts) walk(part);
  };
  for (const root of roots) walk(root);
  return tokens;
}

/** Matches blocks, sections, tasks and lines of three versions; `tokens` tell a line that moved from one reworded. */
export function align(versions: Standing<Outline>, tokens: Versions<Tokens>): Aligned {
  const { base, ours, theirs } = versions;
  const scopes = { base: base?.scope ?? null, ours: ours?.scope ?? null, theirs: theirs?.scope ?? null };
  const said = (side: keyof Versions<unknown>) => tokens[side].get(scopes[side] ?? '') ?? new Set<string>();
  return {
    base,
    ours,
    theirs,
    leaves: joined(
      { base: base?.leaves ?? [], ours: ours?.leaves ?? [], theirs: theirs?.leaves ?? [] },
      (before, now, side) => matchLeaves(before, now, said('base'), said(side), said('theirs')),
      (leaf) => ({ ...leaf, scopes }),
    ),
    parts: joined(
      { base: base?.parts ?? [], ours: ours?.parts ?? [], theirs: theirs?.parts ?? [] },
      matchParts,
      (part) => align(part, tokens),
    ),
  };
}

/** Every aligned leaf at and below. */
export function* alignedLeaves(node: Aligned): Generator<AlignedLeaf> {
  yield* everyOne(node.leaves);
  for (const part of everyOne(node.parts)) yield* alignedLeaves(part);
}

function everyOne<T>({ base, ours, theirs }: Versions<readonly T[]>): Set<T> {
  return new Set([...base, ...ours, ...theirs]);
}

/** Joins what matches into one entry; what is new in both has the same key in both. */
function joined<T extends { readonly key: string }, E>(
  lists: Versions<readonly T[]>,
  match: (before: readonly T[], now: readonly T[], side: 'ours' | 'theirs') => ReadonlyMap<T, T>,
  entryOf: (versions: Standing<T>) => E,
): Versions<E[]> {
  const ours = match(lists.base, lists.ours, 'ours');
  const theirs = match(lists.base, lists.theirs, 'theirs');
  const newByKey = new Map(lists.theirs.filter((one) => !theirs.has(one)).map((one) => [one.key, one]));
  const groups: Standing<T>[] = [];
  const [fromOurs, fromTheirs] = [inverse(ours), inverse(theirs)];
  for (const base of lists.base)
    groups.push({ base, ours: fromOurs.get(base) ?? null, theirs: fromTheirs.get(base) ?? null });
  for (const one of lists.ours) {
    if (ours.has(one)) continue;
    const same = newByKey.get(one.key) ?? null;
    newByKey.delete(one.key);
    groups.push({ base: null, ours: one, theirs: same });
  }
  for (const one of newByKey.values()) groups.push({ base: null, ours: null, theirs: one });
  const entries = new Map<T, E>();
  for (const group of groups) {
    const entry = entryOf(group);
    for (const one of [group.base, group.ours, group.theirs]) if (one !== null) entries.set(one, entry);
  }
  const inOrder = (list: readonly T[]) => list.flatMap((one) => entries.get(one) ?? []);
  return { base: inOrder(lists.base), ours: inOrder(lists.ours), theirs: inOrder(lists.theirs) };
}

function inverse<T>(map: ReadonlyMap<T, T>): Map<T, T> {
  return new Map([...map].map(([now, before]) => [before, now]));
}

function matchLeaves(
  before: readonly Leaf[],
  now: readonly Leaf[],
  saidBefore: ReadonlySet<string>,
  saidNow: ReadonlySet<string>,
  saidByPeople: ReadonlySet<string>,
): Map<Leaf, Leaf> {
  const byKey = new Map(before.map((leaf) => [leaf.key, leaf]));
  const matches = new Map<Leaf, Leaf>();
  for (const leaf of now) {
    const same = byKey.get(leaf.key);
    if (same === undefined) continue;
    matches.set(leaf, same);
    byKey.delete(leaf.key);
  }
  const fresh = now.filter((leaf) => !matches.has(leaf) && !saidBefore.has(leaf.token));
  const gone = [...byKey.values()].filter(({ token }) => !saidNow.has(token));
  return new Map([...matches, ...rewordings(gone, fresh, ({ token }) => !saidByPeople.has(token))]);
}
