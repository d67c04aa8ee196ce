import { type Evidence, withoutEvidence } from '../shared/evidence.ts';
import { sha256 } from '../shared/thread-id.ts';
import { type BlockLine, sectionNames } from './block-lines.ts';
import type { Block, Bullet } from './handbook.ts';
import { bulletsAt } from './read-block.ts';

/** A piece of a block that somebody wrote: a bullet with its continuation, a line of prose or a heading of their own. */
export interface Unit {
  readonly kind: 'bullet' | 'prose' | 'heading';
  /** `lineHash` of `raw`. */
  readonly hash: string;
  readonly raw: string;
  readonly evidence: readonly Evidence[];
  /** The `##` heading it stands under; '' above the first. */
  readonly heading: string;
  /** In its file, from 1. */
  readonly line: number;
}

/**
 * What makes two lines the same to us: the words without marker, evidence, case and the width of white space, so that a
 * repaired marker, a new place or another session's evidence leaves a person's line theirs.
 */
export function normaliseLine(text: string): string {
  return withoutEvidence(text)
    .replace(/^[ \t]*(?:[-*+][ \t]+|#{1,6}[ \t]+)/, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

/** The first 32 hex digits of the normalised line's sha256: key of the table `lines`. */
export function lineHash(text: string): string {
  return sha256(normaliseLine(text)).slice(0, 32);
}

/** Everything of a block that the schema does not prescribe, in source order. */
export function unitsOf(block: Pick<Block, 'lines' | 'line'>): Unit[] {
  const bullets = new Map(places.flatMap((place) => bulletsAt(block.lines, place, block.line)).map(byLine));
  const units: Unit[] = [];
  let heading = '';
  for (const [index, line] of block.lines.entries()) {
    if (/^##[ \t]/.test(line.text) && !line.fenced && index > 0) heading = line.text.trim();
    const unit = unitAt(line, block.line + index, bullets, heading);
    if (unit !== null) units.push(unit);
  }
  return units;
}

const places = ['head', 'task', ...sectionNames, 'other'] as const;

function byLine(bullet: Bullet): [number, Bullet] {
  return [bullet.line, bullet];
}

function unitAt(line: BlockLine, number: number, bullets: ReadonlyMap<number, Bullet>, heading: string): Unit | null {
  if (line.kind === 'bullet') {
    const bullet = bullets.get(number);
    if (bullet === undefined) return null;
    return {
      kind: 'bullet',
      hash: lineHash(bullet.raw),
      raw: bullet.raw,
      evidence: bullet.evidence,
      heading,
      line: number,
    };
  }
  if (line.kind !== 'prose' && line.kind !== 'heading') return null;
  return { kind: line.kind, hash: lineHash(line.text), raw: line.text, evidence: [], heading, line: number };
}
