import type { EpochSeconds } from '../shared/clock.ts';
import type { Redactor } from '../shared/redact.ts';
import { parseHandbook } from '../workspace/handbook.ts';
import { handbookPath, memorySummaryPath } from '../workspace/layout.ts';
import { summarySections } from '../workspace/summary-sections.ts';
import type { Facts, UseFacts, WaitingFacts } from './facts.ts';
import { type Night, nightsOf } from './nights.ts';
import { sessionsOf } from './sessions.ts';
import { namedItems, repositoriesOf } from './topics.ts';
import type { WireIndex, WireWords } from './wire.ts';

/** Everything that the page shows, without secrets. */
export interface Report {
  readonly branch: string;
  readonly stateOid: string | null;
  readonly now: EpochSeconds;
  readonly index: WireIndex;
  /** In the order of `index.sessions`. */
  readonly words: readonly WireWords[];
  /** The latest first. */
  readonly nights: readonly Night[];
  /** `memory_summary.md`: what every session is told. */
  readonly told: readonly { readonly heading: string; readonly lines: readonly string[] }[];
  readonly agents: UseFacts['agents'];
  readonly waiting: WaitingFacts;
}

/** Puts the report together. Every text in it has passed the redaction once more, whoever wrote it. */
export async function gather(facts: Facts, redactor: Redactor): Promise<Report> {
  const handbook = parseHandbook(facts.memories.get(handbookPath) ?? '');
  const sessions = await sessionsOf(facts, namedItems(handbook));
  return redacted(
    {
      branch: facts.branch.replace(/^refs\/heads\//, ''),
      stateOid: facts.stateOid,
      now: facts.now,
      index: {
        windowDays: facts.usage.windowDays,
        repositories: repositoriesOf(handbook, facts.memories, facts.usage, sessions),
        sessions: sessions.list,
      },
      words: sessions.words,
      nights: nightsOf(facts.state),
      told: toldOf(facts.memories.get(memorySummaryPath) ?? ''),
      agents: facts.usage.agents,
      waiting: facts.waiting,
    },
    redactor,
  );
}

function toldOf(text: string): Report['told'] {
  return summarySections(text)
    .filter(({ heading, lines }) => heading !== '' && lines.length > 0)
    .map(({ heading, lines }) => ({
      heading: heading.replace(/^#+[ \t]+/, ''),
      lines: lines.map(({ text: line }) => line.replace(/^[ \t]*[-*+][ \t]+/, '')),
    }));
}

/** The same value with each of its texts redacted. */
function redacted<T>(value: T, redactor: Redactor): T {
  const clean = (one: unknown): unknown => {
    if (typeof one === 'string') return redactor.redact(one);
    if (Array.isArray(one)) return one.map(clean);
    if (typeof one !== 'object' || one === null) return one;
    return Object.fromEntries(Object.entries(one).map(([key, member]) => [key, clean(member)]));
  };
  return clean(value) as T;
}
