import { labels, sectionHeadings, sectionNames } from './block-lines.ts';
import type { Aligned, AlignedLeaf, Standing } from './merge-align.ts';
import { inOneOrder } from './merge-order.ts';
import { isContent, type Leaf, leavesOf, type Outline } from './merge-outline.ts';
import type { Verdicts } from './merge-verdict.ts';

/**
 * The merged part; null for one that is gone: people or we took it away and nothing new came into it, or both sides
 * together left nothing of it.
 * @param keepsLeft what we took away with a part around this one stays.
 */
export function buildPart(part: Aligned, verdicts: Verdicts, keepsLeft = false): Outline | null {
  const { base, ours, theirs } = part;
  const shape = theirs ?? ours;
  if (shape === null) return null;
  const keeps = keepsLeft || isRetitled(part);
  const leaves = inOneOrder(part.leaves).flatMap((line) => standingLeaf(line, part, verdicts, keeps));
  const ordered = inOneOrder(part.parts);
  const built = new Map(ordered.map((inner) => [inner, buildPart(inner, verdicts, keeps)]));
  const isEmpty = !leaves.some(isContent) && [...built.values()].every((inner) => inner === null);
  if (isEmpty && isGone(part, keeps)) return null;
  if (isHalf(part))
    for (const inner of ordered) if (isKeywords(inner)) built.set(inner, built.get(inner) ?? frameOf(inner));
  const parts = bySchema(part, ordered).flatMap((inner) => built.get(inner) ?? []);
  const heading = standingFrame({
    base: base?.heading ?? null,
    ours: ours?.heading ?? null,
    theirs: theirs?.heading ?? null,
  });
  return { ...shape, heading, leaves, parts };
}

/** Whether one side took the part away that the other still has. */
function isHalf({ base, ours, theirs }: Standing<Outline>): boolean {
  return base !== null && (ours === null || theirs === null);
}

/** Whether a part in which nothing is left goes. One that a version had empty stays as that version has it. */
function isGone({ base, ours, theirs }: Aligned, keepsLeft: boolean): boolean {
  if (isHalf({ base, ours, theirs })) {
    return theirs === null || !keepsLeft || (hasContent(theirs) && theirs.heading?.kind !== 'heading');
  }
  return [ours, theirs].every((version) => version === null || hasContent(version));
}

function hasContent(part: Outline): boolean {
  for (const leaf of leavesOf(part)) if (isContent(leaf)) return true;
  return false;
}

/** Whether people changed the head of a part that we took away: then they still want it. */
function isRetitled({ base, ours, theirs }: Aligned): boolean {
  if (base === null || theirs === null || ours !== null) return false;
  const head = (part: Outline) =>
    [part.heading, ...part.leaves.filter(({ kind }) => kind === 'scope' || kind === 'applies_to')].map(
      (leaf) => leaf?.raw,
    );
  return head(base).join('\n') !== head(theirs).join('\n');
}

function standingLeaf(line: AlignedLeaf, part: Aligned, verdicts: Verdicts, keepsLeft: boolean): Leaf[] {
  const { base, ours, theirs } = line;
  const some = theirs ?? ours ?? base;
  if (some !== null && !isContent(some)) {
    // The frame of a part that one side took away is the other side's.
    if (isHalf(part)) return [ours, theirs].filter((leaf) => leaf !== null);
    if (some.kind === 'keywords' && base !== null && ours !== null && theirs !== null)
      return [placed(line, mergedKeywords(base, ours, theirs))];
  }
  const leaf = verdicts.standing(line, keepsLeft);
  return leaf === null ? [] : [placed(line, leaf)];
}

function standingFrame(heading: Standing<Leaf>): Leaf | null {
  const { base, ours, theirs } = heading;
  const leaf = theirs !== null && (ours === null || base?.raw !== theirs.raw) ? theirs : ours;
  return leaf === null ? null : placed(heading, leaf);
}

/** The leaf with the blank lines above it, which are merged by the same rule. */
function placed({ base, ours, theirs }: Standing<Leaf>, leaf: Leaf): Leaf {
  const isPeoples = theirs !== null && (base === null || spaceOf(base) !== spaceOf(theirs));
  const { lead, isTop } = (isPeoples ? theirs : (ours ?? theirs)) ?? leaf;
  return { ...leaf, lead, isTop };
}

function spaceOf({ lead }: Leaf): string {
  return lead.map((line) => `${line.replace(/\r$/, '')}\n`).join('');
}

/** People's words, with those that only we added and without those that only we left out. */
function mergedKeywords(base: Leaf, ours: Leaf, theirs: Leaf): Leaf {
  if (base.raw === theirs.raw) return ours;
  if (base.raw === ours.raw || ours.raw === theirs.raw) return theirs;
  const [before, mine, people] = [wordsOf(base), wordsOf(ours), wordsOf(theirs)];
  const isLeftOut = (word: string) => before.includes(word) && !mine.includes(word);
  const kept = people.filter((word) => !isLeftOut(word));
  const added = mine.filter((word) => !before.includes(word) && !kept.includes(word));
  const raw = `- ${[...kept, ...added].join(', ')}`;
  return { ...theirs, raw, lines: [raw] };
}

function wordsOf({ raw }: Leaf): string[] {
  return raw
    .replace(/^[-*+][ \t]+/, '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

function isKeywords({ ours, theirs }: Aligned): boolean {
  return (theirs ?? ours)?.key === labels.keywords;
}

/** A part of which only its frame is left. */
function frameOf({ ours, theirs }: Aligned): Outline | null {
  const part = theirs ?? ours;
  return part === null ? null : { ...part, leaves: part.leaves.filter((leaf) => !isContent(leaf)), parts: [] };
}

/** A block's tasks and sections in the order of the schema, where both versions keep it. */
function bySchema(part: Aligned, ordered: readonly Aligned[]): readonly Aligned[] {
  const ranks = new Map<Aligned, number>();
  for (const version of [
    part.ours?.level === 1 ? part.parts.ours : [],
    part.theirs?.level === 1 ? part.parts.theirs : [],
  ]) {
    let furthest = 0;
    for (const inner of version) {
      const rank = rankOf(inner) ?? furthest;
      if (rank < furthest) return ordered;
      furthest = rank;
      ranks.set(inner, rank);
    }
  }
  return ranks.size === 0 ? ordered : [...ordered].sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
}

/** null for a heading that the schema does not know. */
function rankOf({ ours, theirs }: Aligned): number | null {
  const heading = (theirs ?? ours)?.heading ?? null;
  if (heading === null || heading.kind === 'heading') return null;
  const section = sectionNames.findIndex((name) => sectionHeadings[name].toLowerCase() === heading.key);
  return section + 1;
}
