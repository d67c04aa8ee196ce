import { day, type EpochSeconds } from '../../shared/clock.ts';
import { sha256 } from '../../shared/thread-id.ts';
import { seeded } from '../statistics.ts';

/** How much a team works. */
export interface Load {
  readonly repositories: number;
  readonly people: number;
  readonly sessionsADay: number;
}

/** What the figures are reckoned for. */
export const reckonedLoad: Load = { repositories: 40, people: 30, sessionsADay: 200 };

export interface DaySession {
  readonly threadId: string;
  readonly repo: string;
  readonly author: string;
  /** Its last activity. */
  readonly at: EpochSeconds;
  /** A number in [0, 1) for whatever else is drawn about it. */
  readonly lot: number;
}

/** Midnight of the day before the first. */
export const firstDay: EpochSeconds = 20_500 * day;

/** When the night after the n-th day plays, from 1. */
export function nightAt(n: number): EpochSeconds {
  return firstDay + n * day + 3 * 3_600;
}

/** Draws one index: the first is the likeliest, the k-th has k^-0.8 of its chance. */
export function ranked(count: number): (lot: number) => number {
  const weights = Array.from({ length: count }, (_, index) => (index + 1) ** -0.8);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return (lot) => {
    let left = lot * total;
    const found = weights.findIndex((weight) => {
      left -= weight;
      return left < 0;
    });
    return found < 0 ? count - 1 : found;
  };
}

/** Sessions of the n-th day, from 1: the same at every call. Few repositories and people have many of them. */
export function sessionsOfDay({ repositories, people, sessionsADay }: Load, n: number): DaySession[] {
  const draw = seeded(n * 7_919);
  const [repoOf, personOf] = [ranked(repositories), ranked(people)];
  return Array.from({ length: sessionsADay }, (_, index): DaySession => {
    const at = firstDay + (n - 1) * day + Math.floor((0.25 + draw() * 0.5) * day);
    return {
      threadId: threadIdOf(n, index, at, draw() < 0.5),
      repo: repositoryName(repoOf(draw())),
      author: personName(personOf(draw())),
      at,
      lot: draw(),
    };
  });
}

export function repositoryName(index: number): string {
  return `git.example.test/bench/repository-${String(index + 1).padStart(2, '0')}`;
}

export function personName(index: number): string {
  return `person-${String(index + 1).padStart(2, '0')}`;
}

/** Some agents' ids begin with the time, others' do not. */
function threadIdOf(n: number, index: number, at: EpochSeconds, isTimed: boolean): string {
  const hash = sha256(`load ${n} ${index}`);
  const digits = isTimed ? `${(at * 1000).toString(16).padStart(12, '0')}${hash.slice(12)}` : hash;
  return [0, 8, 12, 16, 20].map((from, part) => digits.slice(from, from + ([8, 4, 4, 4, 12][part] ?? 0))).join('-');
}
