import { everywhere, type Scope } from './layout.ts';
import { type Aligned, type AlignedLeaf, alignedLeaves, type Tokens, type Versions } from './merge-align.ts';
import { isContent, type Leaf } from './merge-outline.ts';
import { isPhrase, rewordings } from './merge-pairs.ts';

/** Decides line by line; it knows where else in its scope a line stands. */
export interface Verdicts {
  /**
   * The version of a line that stands; null for none.
   * @param keepsLeft whether what we took away with the whole part stays, since people changed that part's heading.
   */
  standing(line: AlignedLeaf, keepsLeft: boolean): Leaf | null;
}

/**
 * What people added or changed stands as they wrote it; what they took away stays away, in our other words too; what
 * they left alone is as we have it.
 */
export function judge(documents: readonly Aligned[], tokens: Versions<Tokens>): Verdicts {
  const lines = documents.flatMap((document) => [...alignedLeaves(document)]);
  const facts = factsOf(lines, tokens);
  const refused = new Map<AlignedLeaf, Leaf>();
  for (const line of lines) {
    const { base, ours } = line;
    if (ours !== null && isNews(line, tokens) && ofThree(line, facts) !== ours) {
      refused.set(line, base ?? facts.rewordedFrom(line)?.base ?? ours);
    }
  }
  const merged = mergedItems(refused);
  return {
    standing: (line, keepsLeft) => {
      const leaf = ofThree(line, facts);
      const { base, ours, theirs, scopes } = line;
      if (leaf !== null || ours !== null || base === null || theirs === null) return leaf;
      const stays = keepsLeft && !says(tokens.ours, scopes.base, base.token) && !facts.isReworded(line);
      return stays || merged(base) ? theirs : null;
    },
  };
}

interface Facts {
  /** Whether people took this line of ours away, wherever in its scope it stands. */
  isUnwanted(line: AlignedLeaf): boolean;
  /** The earlier line, in another part, that a line of ours is a rewording of. */
  rewordedFrom(line: AlignedLeaf): AlignedLeaf | null;
  /** Whether we say an earlier line in other words, in another part. */
  isReworded(line: AlignedLeaf): boolean;
}

function ofThree(line: AlignedLeaf, facts: Facts): Leaf | null {
  const { base, ours, theirs } = line;
  if (theirs === null) return base === null && ours !== null && !facts.isUnwanted(line) ? ours : null;
  if (base === null || base.raw !== theirs.raw) return theirs;
  if (ours === null) return null;
  return ours.token !== base.token && facts.isUnwanted(line) ? theirs : ours;
}

/** A line of ours that its scope did not say before, in these words. */
function isNews({ ours, scopes }: AlignedLeaf, tokens: Versions<Tokens>): boolean {
  return ours !== null && isContent(ours) && !says(tokens.base, scopes.ours, ours.token);
}

function says(tokens: Tokens, scope: Scope | null, token: string): boolean {
  return tokens.get(scope ?? '')?.has(token) === true;
}

function factsOf(lines: readonly AlignedLeaf[], tokens: Versions<Tokens>): Facts {
  const placed = new Set(
    lines.flatMap((line) => (isPeoples(line) ? `${line.scopes.theirs} ${line.theirs?.token}` : [])),
  );
  const removed = removals(lines, tokens);
  const rewords = rewordsElsewhere(lines, tokens);
  const reworded = new Set(rewords.values());
  return {
    rewordedFrom: (line) => rewords.get(line) ?? null,
    isReworded: (line) => reworded.has(line),
    isUnwanted: (line) => {
      const { base, ours, scopes } = line;
      if (ours === null || !isContent(ours)) return false;
      const scope = scopes.ours ?? '';
      if (removed.fromScope(scope, ours.token)) return true;
      if (!isPhrase(ours)) return false;
      if (base === null && placed.has(`${scope} ${ours.token}`)) return true;
      if (!isNews(line, tokens)) return false;
      if (removed.everywhere(ours.token)) return true;
      const before = rewords.get(line);
      if (before !== undefined) return isChangedByPeople(before);
      return base === null && removed.evidence(scope, ours);
    },
  };
}

/** Whether people wrote the line, changed it or put it there. */
function isPeoples({ base, theirs }: AlignedLeaf): boolean {
  return theirs !== null && base?.raw !== theirs.raw;
}

/** Whether a line that stood before is not as it was. */
function isChangedByPeople(line: AlignedLeaf | undefined): boolean {
  return line?.base?.raw !== line?.theirs?.raw;
}

/** What people removed. */
interface Removals {
  fromScope(scope: Scope, token: string): boolean;
  everywhere(token: string): boolean;
  /** Whether a line removed from there (for `*`: from anywhere) has exactly this evidence and none that stands does. */
  evidence(scope: Scope, leaf: Leaf): boolean;
}

function removals(lines: readonly AlignedLeaf[], tokens: Versions<Tokens>): Removals {
  const cited = new Set(lines.map(({ theirs }) => theirs?.items.join(' ')));
  const forgotten = new Set<string>();
  for (const { base, scopes } of lines) {
    if (base === null || base.items.length === 0 || says(tokens.theirs, scopes.base, base.token)) continue;
    const set = base.items.join(' ');
    if (!cited.has(set)) for (const scope of [scopes.base ?? '', everywhere]) forgotten.add(`${scope} ${set}`);
  }
  const [before, now] = [allOf(tokens.base), allOf(tokens.theirs)];
  return {
    fromScope: (scope, token) => says(tokens.base, scope, token) && !says(tokens.theirs, scope, token),
    everywhere: (token) => before.has(token) && !now.has(token),
    evidence: (scope, { items }) => forgotten.has(`${scope} ${items.join(' ')}`),
  };
}

function allOf(tokens: Tokens): Set<string> {
  const all = new Set<string>();
  for (const own of tokens.values()) for (const token of own) all.add(token);
  return all;
}

function rewordsElsewhere(lines: readonly AlignedLeaf[], tokens: Versions<Tokens>): Map<AlignedLeaf, AlignedLeaf> {
  const found = new Map<AlignedLeaf, AlignedLeaf>();
  const gone = new Map<Scope, Map<Leaf, AlignedLeaf>>();
  const fresh = new Map<Scope, Map<Leaf, AlignedLeaf>>();
  for (const line of lines) {
    const { base, ours, scopes } = line;
    if (base !== null && ours === null && !says(tokens.ours, scopes.base, base.token))
      add(gone, scopes.base, base, line);
    if (base === null && ours !== null && isNews(line, tokens)) add(fresh, scopes.ours, ours, line);
  }
  for (const [scope, news] of fresh) {
    const olds = gone.get(scope);
    if (olds === undefined) continue;
    const isChanged = (leaf: Leaf) => isChangedByPeople(olds.get(leaf));
    for (const [leaf, old] of rewordings([...olds.keys()], [...news.keys()], isChanged)) {
      const [line, before] = [news.get(leaf), olds.get(old)];
      if (line !== undefined && before !== undefined) found.set(line, before);
    }
  }
  return found;
}

function add(groups: Map<Scope, Map<Leaf, AlignedLeaf>>, scope: Scope | null, leaf: Leaf, line: AlignedLeaf): void {
  const group = groups.get(scope ?? '') ?? new Map<Leaf, AlignedLeaf>();
  groups.set(scope ?? '', group.set(leaf, line));
}

/**
 * Of lines that we had merged into one that did not stand: what only they cite came from lines that people left alone,
 * and those stay. @param refused each such line with what people changed of it.
 */
function mergedItems(refused: ReadonlyMap<AlignedLeaf, Leaf>): (left: Leaf) => boolean {
  const byItem = new Map<string, { readonly all: ReadonlySet<string>; readonly known: ReadonlySet<string> }[]>();
  for (const [{ ours }, touched] of refused) {
    const entry = { all: new Set(ours?.items), known: new Set(touched.items) };
    for (const item of entry.all) {
      if (entry.known.has(item)) continue;
      const list = byItem.get(item) ?? [];
      if (list.length < 20) byItem.set(item, [...list, entry]);
    }
  }
  return ({ items }) =>
    items.some((item) => byItem.get(item)?.some(({ all }) => items.every((other) => all.has(other))) === true);
}
