import { filterRollout } from '../rollout/filter.ts';
import type { Rollouts } from '../rollout/source.ts';
import { MemoryError } from '../shared/errors.ts';
import { hasHedges } from '../shared/hedges.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import { type Authority, authorities } from '../workspace/authority.ts';
import { type Session, sessionOfItems } from '../workspace/said.ts';
import { judgeLine } from '../workspace/verdicts.ts';
import type { RuleContext } from '../workspace/violation.ts';
import type { PlacedBullet } from './pairs.ts';

/** The rollouts that are at hand of the threads that lines cite, by short id. One that cannot be read is not at hand. */
export async function sessionsAtHand(
  bullets: readonly PlacedBullet[],
  rollouts: Rollouts | null,
): Promise<ReadonlyMap<string, Session>> {
  const sessions = new Map<string, Session>();
  if (rollouts === null) return sessions;
  const cited = new Set(bullets.flatMap(({ evidence }) => evidence.map(({ thread }) => thread)));
  const { found } = await rollouts.list();
  for (const { thread } of found) {
    const short = shortThreadId(thread.id);
    if (!cited.has(short)) continue;
    try {
      sessions.set(short, sessionOfItems(filterRollout(await rollouts.read(thread.id)).items));
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
    }
  }
  return sessions;
}

/** What the lines of the handbook rest on. */
export interface Ground {
  /** Lines that were compared with the rollouts of all their sessions. */
  readonly byRollout: number;
  /** Lines that were compared with what phase 1 wrote of them. */
  readonly byExtract: number;
  /** Lines with evidence of which nothing is at hand. */
  readonly unseen: number;
  /** Lines that cite a person who spoke a language without a list of hedges. */
  readonly withoutHedges: number;
  readonly authority: Readonly<Record<Authority, number>>;
}

export function groundOf(bullets: readonly PlacedBullet[], { sessionOf }: RuleContext): Ground {
  const counts = { byRollout: 0, byExtract: 0, unseen: 0, withoutHedges: 0 };
  const authority = { human: 0, observed: 0, agent: 0, external: 0 };
  for (const { text, evidence } of bullets) {
    if (evidence.length === 0) continue;
    const lookUp = sessionOf ?? (() => null);
    const verdict = judgeLine({ text, section: 'none', evidence }, lookUp);
    if (verdict.authority !== null) authority[verdict.authority] += 1;
    const sessions = evidence.map(({ thread, items }) => ({ session: lookUp(thread), items }));
    if (verdict.outcome === 'unseen') counts.unseen += 1;
    else if (sessions.every(({ session }) => session?.basis === 'items')) counts.byRollout += 1;
    else counts.byExtract += 1;
    const persons = sessions
      .flatMap(({ session, items }) => items.flatMap((n) => session?.at(n) ?? []))
      .filter(({ said }) => said.who === 'human');
    if (persons.some(({ said }) => !hasHedges(said.text))) counts.withoutHedges += 1;
  }
  return {
    ...counts,
    authority: Object.fromEntries(authorities.map((one) => [one, authority[one]])) as Ground['authority'],
  };
}
