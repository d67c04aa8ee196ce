import { normaliseLine } from './lines.ts';
import { isContent, leavesOf, type Outline } from './merge-outline.ts';
import { indexTexts } from './near.ts';

/** Parts that may say the same token before it tells nothing apart any more. */
const commonest = 50;

/**
 * Which earlier part, whose heading is gone, each part with a new heading is: one that keeps half of what the smaller of
 * the two says or cites, or some of it under nearly the same heading.
 */
export function matchRenamed(gone: readonly Outline[], fresh: readonly Outline[]): Map<Outline, Outline> {
  const matches = new Map<Outline, Outline>();
  if (gone.length === 0 || fresh.length === 0) return matches;
  const index = indexParts(gone);
  const taken = new Set<Outline>();
  for (const part of fresh) {
    const same = likeliest(part, index, taken);
    if (same === null) continue;
    matches.set(part, same);
    taken.add(same);
  }
  return matches;
}

interface Index {
  /** The parts whose headings say nearly the same. */
  titled(part: Outline): readonly Outline[];
  readonly parts: ReadonlyMap<string, readonly Outline[]>;
  readonly sizes: ReadonlyMap<Outline, number>;
}

function indexParts(outlines: readonly Outline[]): Index {
  const parts = new Map<string, Outline[]>();
  const sizes = new Map<Outline, number>();
  for (const part of outlines) {
    const signs = signsOf(part);
    sizes.set(part, signs.size);
    for (const sign of signs) {
      const list = parts.get(sign);
      if (list === undefined) parts.set(sign, [part]);
      else if (list.length < commonest) list.push(part);
    }
  }
  const near = indexTexts(outlines.map(titleOf));
  return { parts, sizes, titled: (part) => near.of(titleOf(part)).flatMap((at) => outlines[at] ?? []) };
}

function titleOf({ key }: Outline): string {
  return normaliseLine(key.split('\n').at(-1) ?? '').replace(/^task /, '');
}

function likeliest(part: Outline, { parts, sizes, titled }: Index, taken: ReadonlySet<Outline>): Outline | null {
  const signs = signsOf(part);
  const votes = new Map<Outline, number>();
  for (const sign of signs) {
    for (const other of parts.get(sign) ?? []) {
      if (!taken.has(other) && isOneKind(part, other)) votes.set(other, (votes.get(other) ?? 0) + 1);
    }
  }
  const namesakes = new Set(votes.size === 0 ? [] : titled(part));
  let best: Outline | null = null;
  let most = 0;
  for (const [other, count] of votes) {
    if (!namesakes.has(other) && count * 2 < Math.min(signs.size, sizes.get(other) ?? 0)) continue;
    // Of two that are equally alike the one of the same scope.
    const weight = count * 2 + (other.scope === part.scope ? 1 : 0);
    if (weight > most) [best, most] = [other, weight];
  }
  return best;
}

function isOneKind(a: Outline, b: Outline): boolean {
  const [one, other] = [a.heading?.kind, b.heading?.kind];
  if (one === 'label' || other === 'label') return false;
  return (one === 'task') === (other === 'task');
}

/** What a part says and cites. A session may be named in several blocks, so a reference tells tasks apart only. */
function signsOf(part: Outline): Set<string> {
  const signs = new Set<string>();
  for (const leaf of leavesOf(part)) {
    if (isContent(leaf) && (leaf.kind !== 'reference' || part.level > 1)) signs.add(leaf.token);
    for (const item of leaf.items) signs.add(item);
  }
  return signs;
}
