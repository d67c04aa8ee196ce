import { type Block, type Bullet, bulletsOf } from './handbook.ts';
import { lineHash } from './lines.ts';
import { itemsOf } from './shrink.ts';
import type { RuleContext } from './violation.ts';

/** A bullet that another one of its scope says it corrects: every item that it rests on is superseded there. */
export interface Corrected {
  readonly bullet: Bullet;
  readonly block: Block;
  readonly by: Bullet;
}

/**
 * The bullets of one scope that no longer hold, because a later one has taken their place in so many words. A person's line is
 * never among them, nor is one that supersedes what it rests on itself.
 */
export function correctedBullets(blocks: readonly Block[], context: Pick<RuleContext, 'isPersonLine'>): Corrected[] {
  const successors = new Map<string, Bullet>();
  for (const bullet of blocks.flatMap(bulletsOf))
    for (const item of itemsOf(bullet.supersedes)) successors.set(item, bullet);
  if (successors.size === 0) return [];
  return blocks.flatMap((block) =>
    bulletsOf(block).flatMap((bullet): Corrected[] => {
      const items = itemsOf(bullet.evidence);
      const by = successors.get(items[0] ?? '');
      if (by === undefined || by === bullet || !items.every((item) => successors.has(item))) return [];
      return context.isPersonLine(block.appliesTo.repo, lineHash(bullet.raw)) ? [] : [{ bullet, block, by }];
    }),
  );
}
