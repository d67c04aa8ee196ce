import { bulletChecker } from '../../phase1/bullet.ts';
import type { Line as OutlineLine } from '../../phase1/outline.ts';
import type { Rollout } from '../../rollout/types.ts';
import { formatEvidence, formatItems } from '../../shared/evidence.ts';
import { type BlockDraft, renderBlock } from '../../workspace/handbook.ts';
import { handbookPath } from '../../workspace/layout.ts';
import { violations } from '../../workspace/rules.ts';
import type { Line } from '../../workspace/verdicts.ts';
import type { RuleContext } from '../../workspace/violation.ts';
import { theCorpus, type Witness } from './corpus.ts';
import { type FaultKind, faultKinds, plant } from './faults.ts';
import { lotsFrom } from './lots.ts';

/** Where a line is judged: in phase 1's answer, in the handbook with the rollouts at hand, in it with the state alone. */
export const places = ['stage 1', 'handbook', 'handbook, state alone'] as const;

export type Place = (typeof places)[number];

export interface Tally {
  readonly planted: number;
  readonly caught: number;
}

export interface Trust {
  readonly faults: Readonly<Record<FaultKind, Readonly<Record<Place, Tally>>>>;
  /** Lines that nobody touched, by language: judged at every place, each once. */
  readonly untouched: Readonly<Record<string, { readonly lines: number; readonly alarms: number }>>;
  /** The first few that were not caught, and the first few false alarms. */
  readonly missed: readonly string[];
  readonly alarms: readonly string[];
}

export interface TrustSize {
  /** Faults of each kind at each place. */
  readonly faults: number;
  /** Sessions that are written in each language. */
  readonly sessions: number;
  readonly seed: number;
  /** In place of the bundled recorded sessions. */
  readonly recorded?: readonly Rollout[];
}

/** What `npm run bench -- trust` measures. */
export const wholeTrust: TrustSize = { faults: 60, sessions: 14, seed: 7 };

/** Plants faults into lines and counts which are caught, and how often a line that nobody touched is taken for one. */
export async function measureTrust({ faults, sessions, seed, recorded }: TrustSize): Promise<Trust> {
  const corpus = await theCorpus(sessions, recorded ?? null);
  const missed: string[] = [];
  const byKind = faultKinds.map((kind) => {
    const tallies = places.map((place, index) => {
      const lots = lotsFrom(seed + index * 1_000 + faultKinds.indexOf(kind));
      const fitting = corpus.map((witness) => ({
        ...witness,
        lines: witness.lines.filter((line) => stands(line, place)),
      }));
      const planted = plant(
        kind,
        fitting.filter(({ lines }) => lines.length > 0),
        faults,
        lots,
      );
      const escaped = planted.filter(({ line, witness }) => !isAlarmed(line, witness, place));
      missed.push(...escaped.map(({ how, line }) => `${kind}, ${how}, ${place}: ${line.section}: ${line.text}`));
      return [place, { planted: planted.length, caught: planted.length - escaped.length }] as const;
    });
    return [kind, Object.fromEntries(tallies)] as const;
  });
  const alarms: string[] = [];
  const untouched: Record<string, { lines: number; alarms: number }> = {};
  for (const witness of corpus) {
    for (const place of places) {
      for (const line of witness.lines.filter((one) => stands(one, place))) {
        const tally = untouched[witness.language] ?? { lines: 0, alarms: 0 };
        untouched[witness.language] = tally;
        tally.lines += 1;
        if (!isAlarmed(line, witness, place)) continue;
        tally.alarms += 1;
        alarms.push(`${place}: ${line.section}: ${line.text}`);
      }
    }
  }
  return {
    faults: Object.fromEntries(byKind) as Trust['faults'],
    untouched,
    missed: missed.slice(0, 40),
    alarms: alarms.slice(0, 40),
  };
}

/** What does not hold of what was promised, in sentences; empty where everything does. */
export function broken(trust: Trust, least: { readonly planted: number; readonly untouched: number }): string[] {
  const found: string[] = [];
  const all: Tally[] = [];
  for (const kind of faultKinds) {
    const sum = sumOf(Object.values(trust.faults[kind]));
    all.push(sum);
    if (sum.planted < least.planted) found.push(`${kind}: ${sum.planted} planted; at least ${least.planted} are to be`);
    if (sum.caught < sum.planted * 0.9)
      found.push(`${kind}: ${sum.caught} of ${sum.planted} caught; at least 90 % are to be`);
  }
  const sum = sumOf(all);
  if (sum.caught < sum.planted * 0.95)
    found.push(`${sum.caught} of ${sum.planted} faults caught; at least 95 % are to be`);
  const lines = Object.values(trust.untouched);
  const judged = lines.reduce((count, one) => count + one.lines, 0);
  const alarms = lines.reduce((count, one) => count + one.alarms, 0);
  if (judged < least.untouched) found.push(`${judged} untouched lines; at least ${least.untouched} are to be judged`);
  if (alarms >= judged * 0.02)
    found.push(`${alarms} of ${judged} untouched lines taken for faults; less than 2 % may be`);
  return found;
}

export function sumOf(tallies: readonly Tally[]): Tally {
  return {
    planted: tallies.reduce((count, { planted }) => count + planted, 0),
    caught: tallies.reduce((count, { caught }) => count + caught, 0),
  };
}

/** The handbook has three sections, and a candidate that one session holds does not reach it. */
function stands({ section, text }: Line, place: Place): boolean {
  if (place === 'stage 1') return section !== 'none';
  return (
    (section === 'preferences' || section === 'knowledge' || section === 'failures') && !/\(candidate\)/.test(text)
  );
}

/** Judged by the very code that phase 1, consolidation and the check run. */
function isAlarmed(line: Line, witness: Witness, place: Place): boolean {
  if (place === 'stage 1') {
    const checked = bulletChecker(witness.session)(asOutlined(line), 'raw_memory');
    return checked.problems.length > 0;
  }
  const context = contextOf(witness, place);
  return violations(new Map([[handbookPath, handbookWith(line, witness)]]), context).some(({ rule }) =>
    rule.startsWith('evidence.'),
  );
}

function asOutlined({ text, section, evidence }: Line): OutlineLine {
  const numbers = evidence.flatMap(({ items }) => items);
  return {
    kind: 'bullet',
    text: `${text} ${formatItems(numbers)}`,
    section: section === 'preferences' ? 'project' : section,
  };
}

function handbookWith({ section, text, evidence }: Line, { repo }: Witness): string {
  const bullets: Record<keyof BlockDraft['bullets'], string[]> = { preferences: [], knowledge: [], failures: [] };
  if (section === 'preferences' || section === 'knowledge' || section === 'failures')
    bullets[section].push(`${text} ${formatEvidence(evidence)}`);
  return renderBlock({
    title: 'The session',
    scopeLine: 'what the session showed',
    appliesTo: { repo, cwd: '.', reuseRule: 'holds for this checkout' },
    tasks: [],
    bullets,
  });
}

/** With the state alone, only items that phase 1 cited are known, and of them only what it wrote. */
function contextOf(witness: Witness, place: Place): RuleContext {
  const isWhole = place === 'handbook';
  const cited = new Set(witness.lines.flatMap(({ evidence }) => evidence.flatMap(({ items }) => items)));
  const known = new Map(
    witness.items.filter(({ n }) => isWhole || cited.has(n)).map(({ n, who }) => [n, { who, repo: witness.repo }]),
  );
  return {
    scope: null,
    audience: 'team',
    isPersonLine: () => false,
    evidenceOf: (thread, n) => (thread === witness.thread ? (known.get(n) ?? null) : null),
    sessionOf: (thread) => (thread === witness.thread ? (isWhole ? witness.session : witness.extract) : null),
  };
}
