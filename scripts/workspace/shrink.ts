import type { Evidence } from '../shared/evidence.ts';
import { type Block, type Bullet, bulletsOf } from './handbook.ts';
import { lineHash } from './lines.ts';

/** Evidence-bearing bullets that disappeared without a reason. */
export interface Shrinkage {
  readonly lost: number;
  readonly of: number;
}

/** Share of a scope's evidence-bearing bullets that one consolidation may lose without a reason. */
const allowed = 0.3;

/**
 * Whether a scope lost more than it can explain. A bullet is explained when all its sessions left the inputs, or when a
 * bullet that is new here shares an item with it or supersedes one: reworded, merged with another, or corrected.
 * @returns null when nothing is wrong.
 */
export function unexplainedShrinkage(
  before: readonly Block[],
  after: readonly Block[],
  deletedThreads: ReadonlySet<string>,
): Shrinkage | null {
  const old = before.flatMap(bulletsOf).filter(({ evidence }) => evidence.length > 0);
  const now = after.flatMap(bulletsOf);
  const oldHashes = new Set(old.map(hashOf));
  const nowHashes = new Set(now.map(hashOf));
  const explained = new Set(
    now
      .filter((bullet) => !oldHashes.has(hashOf(bullet)))
      .flatMap(({ evidence, supersedes }) => [...itemsOf(evidence), ...itemsOf(supersedes)]),
  );
  const lost = old.filter(
    (bullet) =>
      !nowHashes.has(hashOf(bullet)) &&
      !bullet.evidence.every(({ thread }) => deletedThreads.has(thread)) &&
      !itemsOf(bullet.evidence).some((item) => explained.has(item)),
  ).length;
  return lost > old.length * allowed ? { lost, of: old.length } : null;
}

/** `k3f7x2ab@88`, one an item. */
export function itemsOf(evidence: readonly Evidence[]): string[] {
  return evidence.flatMap(({ thread, items }) => items.map((item) => `${thread}@${item}`));
}

function hashOf(bullet: Bullet): string {
  return lineHash(bullet.raw);
}
