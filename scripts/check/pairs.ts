import type { Files } from '../shared/files.ts';
import { contradiction, isNearlySame } from '../workspace/contradictions.ts';
import { type Bullet, bulletsOf, parseHandbook, scopeOf } from '../workspace/handbook.ts';
import { handbookPath, type Scope } from '../workspace/layout.ts';
import { normaliseLine } from '../workspace/lines.ts';
import { indexTexts } from '../workspace/near.ts';
import type { Finding } from './finding.ts';
import { remedyOf } from './remedies.ts';

/** A bullet of the handbook with where it holds. */
export interface PlacedBullet extends Bullet {
  readonly scope: Scope;
  readonly cwd: string;
}

export function bulletsIn(files: Files): PlacedBullet[] {
  return parseHandbook(files.get(handbookPath) ?? '').blocks.flatMap((block) => {
    const scope = scopeOf(block);
    return scope === null ? [] : bulletsOf(block).map((bullet) => ({ ...bullet, scope, cwd: block.appliesTo.cwd }));
  });
}

/** Lines of one repository's memory that say nearly the same, or that cannot both hold. */
export function pairFindings(bullets: readonly PlacedBullet[]): Finding[] {
  const byScope = new Map<Scope, PlacedBullet[]>();
  for (const bullet of bullets) byScope.set(bullet.scope, [...(byScope.get(bullet.scope) ?? []), bullet]);
  return [...byScope.values()].flatMap(pairsOf);
}

function pairsOf(bullets: readonly PlacedBullet[]): Finding[] {
  const index = indexTexts(bullets.map(({ text }) => withoutPolarity(text)));
  const swaps = bullets.flatMap((bullet, at) =>
    / (?:over|instead of|rather than|statt|anstatt) /.test(bullet.text) ? [at] : [],
  );
  return bullets.flatMap((bullet, at) => {
    const near = new Set([...index.of(withoutPolarity(bullet.text)), ...(swaps.includes(at) ? swaps : [])]);
    return [...near].flatMap((other): Finding[] => {
      const earlier = bullets[other];
      if (earlier === undefined || other >= at || earlier.cwd !== bullet.cwd) return [];
      const why = contradiction(earlier.text, bullet.text);
      if (why !== null) return [finding('bullet.contradicts', bullet.line, `${reasons[why]} line ${earlier.line}.`)];
      const isTwice = normaliseLine(earlier.raw) === normaliseLine(bullet.raw);
      return !isTwice && isNearlySame(earlier.text, bullet.text)
        ? [finding('bullet.near', bullet.line, `This says nearly the same as line ${earlier.line}.`)]
        : [];
    });
  });
}

/** Close enough that what forbids finds what demands. */
function withoutPolarity(text: string): string {
  return text.replace(/\b(?:always|never|not|do|don['’]t|must|should|please)\b|必须|永远|不要|总是|请/gi, ' ');
}

export const reasons = {
  opposite: 'This demands what another line forbids:',
  number: 'This gives another number than',
  swapped: 'This prefers what is rejected in',
} as const;

function finding(rule: string, line: number, message: string): Finding {
  return { severity: 'warning', rule, path: handbookPath, line, message, remedy: remedyOf(rule) };
}
