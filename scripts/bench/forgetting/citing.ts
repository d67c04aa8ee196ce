import { day } from '../../shared/clock.ts';
import type { Cited } from '../load/books.ts';
import { type Load, nightAt, personName, ranked } from '../load/days.ts';
import { seeded } from '../statistics.ts';
import type { Lives } from './lives.ts';

/** Of ten citations seven are of what everybody needs, where the memory has such. */
const popularShare = 0.7;

/**
 * Who cites what on the day before the n-th night: only what the memory of that repository holds can be cited.
 * @param memory repository → what is in its memory; repositories in the order of their use.
 */
export function citationsOfDay(
  memory: ReadonlyMap<string, readonly string[]>,
  lives: Lives,
  load: Load,
  citationsADay: number,
  n: number,
): Cited[] {
  const scopes = [...memory].filter(([, ids]) => ids.length > 0);
  if (scopes.length === 0) return [];
  const draw = seeded(n * 104_729 + citationsADay);
  const [scopeOf, personOf] = [ranked(scopes.length), ranked(load.people)];
  const known = new Map(scopes.map(([scope, ids]) => [scope, ids.filter((id) => lives.get(id)?.isPopular === true)]));
  return Array.from({ length: citationsADay }, (_, index): Cited => {
    const [scope, ids] = scopes[scopeOf(draw())] ?? ['', []];
    const popular = known.get(scope) ?? [];
    const from = draw() < popularShare && popular.length > 0 ? popular : ids;
    const cited = from[Math.floor(draw() * from.length)] ?? '';
    const at = nightAt(n) - Math.floor((0.2 + draw() * 0.5) * day);
    return { cited, citing: `citing ${n} ${index}`, author: personName(personOf(draw())), at };
  });
}
