import { followFences } from './block-lines.ts';
import type { Scope } from './layout.ts';
import { isContent, type Leaf, type Outline } from './merge-outline.ts';
import { rewordings } from './merge-pairs.ts';
import { matchRenamed } from './merge-parts.ts';

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
  const { base, theirs } = versions;
  const ours = isReadable(versions) ? versions.ours : base;
  const scopes = { base: base?.scope ?? null, ours: ours?.scope ?? null, theirs: theirs?.scope ?? null };
  const said = (side: keyof Versions<unknown>) => tokens[side].get(scopes[side] ?? '') ?? new Set<string>();
  return {
    base,
    ours,
    theirs,
    leaves: joined(
      { base: base?.leaves ?? [], ours: ours?.leaves ?? [], theirs: theirs?.leaves ?? [] },
      (gone, fresh, side) =>
        rewordings(
          gone.filter(({ token }) => !said(side).has(token)),
          fresh.filter(({ token }) => !said('base').has(token)),
          ({ token }) => !said('theirs').has(token),
        ),
      (leaf) => ({ ...leaf, scopes }),
    ),
    parts: joined(
      { base: base?.parts ?? [], ours: ours?.parts ?? [], theirs: theirs?.parts ?? [] },
      matchRenamed,
      (part) => align(part, tokens),
    ),
  };
}

/**
 * Whether we left no code fence open in a block that people changed: it would cover lines that they removed. Then the
 * block is theirs.
 */
function isReadable({ base, ours, theirs }: Standing<Outline>): boolean {
  if (base === null || ours === null || theirs === null || ours.level !== 1) return true;
  return !isLeftOpen(ours) || isLeftOpen(base) || textOf(base) === textOf(theirs);
}

function isLeftOpen(part: Outline): boolean {
  const fences = followFences();
  for (const line of textOf(part).split('\n')) fences.cover(line);
  return fences.closing() !== null;
}

function textOf({ heading, leaves, parts }: Outline): string {
  return [heading?.raw ?? '', ...leaves.map(({ raw }) => raw), ...parts.map(textOf)].join('\n');
}

/** Every aligned leaf at and below. */
export function* alignedLeaves(node: Aligned): Generator<AlignedLeaf> {
  yield* everyOne(node.leaves);
  for (const part of everyOne(node.parts)) yield* alignedLeaves(part);
}

function everyOne<T>({ base, ours, theirs }: Versions<readonly T[]>): Set<T> {
  return new Set([...base, ...ours, ...theirs]);
}

/** Which earlier thing, that has gone, each fresh one is under another heading or in other words. */
type MatchByContent<T> = (gone: readonly T[], fresh: readonly T[], side: 'ours' | 'theirs') => ReadonlyMap<T, T>;

/** Joins what has one key, or says the same otherwise, into one entry. */
function joined<T extends { readonly key: string }, E>(
  lists: Versions<readonly T[]>,
  byContent: MatchByContent<T>,
  entryOf: (versions: Standing<T>) => E,
): Versions<E[]> {
  const theirs = matchByKey(lists.base, lists.theirs);
  const ours = matchByKey(lists.base, lists.ours);
  const complete = (matches: Map<T, T>, side: 'ours' | 'theirs') => {
    const taken = new Set(matches.values());
    const gone = lists.base.filter((one) => !taken.has(one));
    const fresh = lists[side].filter((one) => !matches.has(one));
    for (const [now, before] of byContent(gone, fresh, side)) matches.set(now, before);
  };
  complete(theirs, 'theirs');
  follow(lists.ours, ours, theirs);
  complete(ours, 'ours');
  follow(lists.theirs, theirs, ours);
  return inOrder(lists, groupsOf(lists, ours, theirs), entryOf);
}

function matchByKey<T extends { readonly key: string }>(before: readonly T[], now: readonly T[]): Map<T, T> {
  const byKey = new Map(before.map((one) => [one.key, one]));
  return new Map(
    now.flatMap((one): [T, T][] => {
      const same = byKey.get(one.key);
      return same === undefined ? [] : [[one, same]];
    }),
  );
}

/** What the other side has under the same new key is the same earlier thing. */
function follow<T extends { readonly key: string }>(
  now: readonly T[],
  matches: Map<T, T>,
  other: ReadonlyMap<T, T>,
): void {
  const taken = new Set(matches.values());
  const byKey = new Map([...other].map(([one, before]) => [one.key, before]));
  for (const one of now) {
    const before = byKey.get(one.key);
    if (before !== undefined && !matches.has(one) && !taken.has(before)) matches.set(one, before);
  }
}

function groupsOf<T extends { readonly key: string }>(
  lists: Versions<readonly T[]>,
  ours: ReadonlyMap<T, T>,
  theirs: ReadonlyMap<T, T>,
): Standing<T>[] {
  const [fromOurs, fromTheirs] = [inverse(ours), inverse(theirs)];
  const newByKey = new Map(lists.theirs.filter((one) => !theirs.has(one)).map((one) => [one.key, one]));
  const groups: Standing<T>[] = lists.base.map((base) => ({
    base,
    ours: fromOurs.get(base) ?? null,
    theirs: fromTheirs.get(base) ?? null,
  }));
  for (const one of lists.ours) {
    if (ours.has(one)) continue;
    groups.push({ base: null, ours: one, theirs: newByKey.get(one.key) ?? null });
    newByKey.delete(one.key);
  }
  for (const one of newByKey.values()) groups.push({ base: null, ours: null, theirs: one });
  return groups;
}

function inOrder<T, E>(
  lists: Versions<readonly T[]>,
  groups: readonly Standing<T>[],
  entryOf: (versions: Standing<T>) => E,
): Versions<E[]> {
  const entries = new Map<T, E>();
  for (const group of groups) {
    const entry = entryOf(group);
    for (const one of [group.base, group.ours, group.theirs]) if (one !== null) entries.set(one, entry);
  }
  const list = (side: readonly T[]) => side.flatMap((one) => entries.get(one) ?? []);
  return { base: list(lists.base), ours: list(lists.ours), theirs: list(lists.theirs) };
}

function inverse<T>(map: ReadonlyMap<T, T>): Map<T, T> {
  return new Map([...map].map(([now, before]) => [before, now]));
}
