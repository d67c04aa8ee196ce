import { type Evidence, parseSuperseded } from '../shared/evidence.ts';
import type { Files } from '../shared/files.ts';
import { parseHandbook, scopeOf } from '../workspace/handbook.ts';
import { handbookPath, type Scope } from '../workspace/layout.ts';
import { normaliseLine, unitsOf } from '../workspace/lines.ts';
import { itemsOf } from '../workspace/shrink.ts';

/** A line of the handbook, with what tells it from others. */
export interface Line {
  readonly kind: 'bullet' | 'prose' | 'heading';
  /** '' in a section that names no repository. */
  readonly scope: Scope;
  /** Scope, block and heading. */
  readonly place: string;
  readonly hash: string;
  /** `normaliseLine` of it. */
  readonly words: string;
  readonly evidence: readonly Evidence[];
  /** `k3f7x2ab@88`, one an item. */
  readonly items: readonly string[];
  /** Items of lines that it says it corrects. */
  readonly supersedes: readonly string[];
  readonly unverified: boolean;
}

export function linesIn(files: Files): Line[] {
  return parseHandbook(files.get(handbookPath) ?? '').blocks.flatMap((block) => {
    const scope = scopeOf(block) ?? '';
    return unitsOf(block).map(({ kind, hash, raw, evidence, heading }) => ({
      kind,
      scope,
      place: `${scope}\n${block.title}\n${heading.toLowerCase()}`,
      hash,
      words: normaliseLine(raw),
      evidence,
      items: itemsOf(evidence),
      supersedes: itemsOf(parseSuperseded(raw)),
      unverified: raw.includes('(unverified)'),
    }));
  });
}
