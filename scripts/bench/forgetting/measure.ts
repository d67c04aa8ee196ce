import { day } from '../../shared/clock.ts';
import { emptyState } from '../../state/snapshot.ts';
import type { OutputView } from '../../state/types.ts';
import { type Chosen, pruneNight, recordCited, recordSession, selectAll, selectionPolicy } from '../load/books.ts';
import { type Load, nightAt, sessionsOfDay } from '../load/days.ts';
import { citationsOfDay } from './citing.ts';
import { CodexOrder } from './codex-order.ts';
import { isPopular, type LifeFigures, type Lives, lifeFigures, livedTonight } from './lives.ts';

export interface Experiment {
  readonly load: Load;
  readonly nights: number;
  readonly citationsADay: number;
}

/** One way of selecting, over all nights. */
export interface Outcome extends LifeFigures {
  /** Nights on which outputs waited and none of them came in. */
  readonly nightsWithoutNew: number;
}

export interface Forgetting {
  readonly citationsADay: number;
  readonly outputs: number;
  readonly ours: Outcome & {
    /** Nights and repositories in which something waited and nothing of it came in. */
    readonly scopesWithoutNew: number;
    /** Left before its age while its repository had free slots. */
    readonly leftTooEarly: number;
    /** Left by rank while something that was cited less stayed. */
    readonly leftByWrongRank: number;
  };
  readonly codex: Outcome;
}

/** Plays the nights over the state and the selection that real nights use, and Codex's order beside them. */
export async function measureForgetting(
  experiment: Experiment,
  progress: (night: number) => void,
): Promise<Forgetting> {
  const { load, nights, citationsADay } = experiment;
  const state = await emptyState();
  const codexOrder = new CodexOrder();
  const [lives, codexLives]: [Lives, Lives] = [new Map(), new Map()];
  const counted = { withoutNew: 0, codexWithoutNew: 0, scopesWithoutNew: 0, tooEarly: 0, wrongRank: 0 };
  let [memory, codexMemory]: ReadonlyMap<string, readonly string[]>[] = [new Map(), new Map()];
  for (let n = 1; n <= nights; n += 1) {
    progress(n);
    const now = nightAt(n);
    const cited = citationsOfDay(memory ?? new Map(), lives, load, citationsADay, n);
    const codexCited = citationsOfDay(codexMemory ?? new Map(), codexLives, load, citationsADay, n);
    const sessions = sessionsOfDay(load, n);
    state.transaction(() => {
      recordCited(state, cited, now);
      pruneNight(state, now);
      for (const session of sessions) recordSession(state, session, lesson, now);
    });
    for (const session of sessions) {
      const life = { made: n, isPopular: isPopular(session) };
      lives.set(session.threadId, { ...life, nights: 0, cited: 0 });
      codexLives.set(session.threadId, { ...life, nights: 0, cited: 0 });
      codexOrder.add(session.threadId, session.repo, session.at);
    }
    for (const { cited: id } of cited) addCitation(lives, id);
    for (const { cited: id, at } of codexCited) {
      addCitation(codexLives, id);
      codexOrder.cite(id, at);
    }
    const chosen = state.transaction(() => selectAll(state, now));
    memory = new Map(chosen.map(({ scope, chosen: outputs }) => [scope, outputs.map(({ threadId }) => threadId)]));
    codexMemory = codexOrder.select(now);
    const isNew = (ids: readonly string[], of: Lives) => ids.some((id) => of.get(id)?.nights === 0);
    const ids = [...memory.values()].flat();
    const codexIds = [...codexMemory.values()].flat();
    if (!isNew(ids, lives)) counted.withoutNew += 1;
    if (!isNew(codexIds, codexLives)) counted.codexWithoutNew += 1;
    for (const scope of chosen) {
      counted.scopesWithoutNew +=
        scope.waiting > 0 &&
        !isNew(
          scope.chosen.map(({ threadId }) => threadId),
          lives,
        )
          ? 1
          : 0;
      counted.tooEarly += leftTooEarly(scope, now);
      counted.wrongRank += leftByWrongRank(scope, now);
    }
    livedTonight(lives, ids);
    livedTonight(codexLives, codexIds);
  }
  state.close();
  const [chance, until] = [nights - selectionPolicy.maxUnusedDays, nights - 2 * selectionPolicy.maxUnusedDays];
  return {
    citationsADay,
    outputs: lives.size,
    ours: {
      ...lifeFigures(lives, chance, until),
      nightsWithoutNew: counted.withoutNew,
      scopesWithoutNew: counted.scopesWithoutNew,
      leftTooEarly: counted.tooEarly,
      leftByWrongRank: counted.wrongRank,
    },
    codex: { ...lifeFigures(codexLives, chance, until), nightsWithoutNew: counted.codexWithoutNew },
  };
}

/** Every session teaches something; what it says does not matter here. */
const lesson = { title: 'A task', slug: 'task', rawMemory: '- a line (@1)', rolloutSummary: '', evidence: [] };

function addCitation(lives: Lives, id: string): void {
  const life = lives.get(id);
  if (life !== undefined) life.cited += 1;
}

/** Outputs that left though they were not old and there was room for them. */
function leftTooEarly({ chosen, forgotten, outputs }: Chosen, now: number): number {
  if (chosen.length >= selectionPolicy.maxRawMemories) return 0;
  const young = new Set(outputs.filter((one) => lastSign(one) >= cutoffAt(now)).map(({ threadId }) => threadId));
  return forgotten.filter((id) => young.has(id)).length;
}

/** Outputs that left before their age though one that was there before, and was cited less, stayed. */
function leftByWrongRank({ chosen, forgotten, outputs, before }: Chosen, now: number): number {
  const gone = new Set(forgotten);
  const left = outputs.filter((one) => gone.has(one.threadId) && lastSign(one) >= cutoffAt(now));
  if (left.length === 0) return 0;
  // What came in tonight has a slot of those that are kept for new ones.
  const stayed = chosen.filter(({ threadId }) => before.has(threadId));
  const least = Math.min(...stayed.map(({ usageCount }) => usageCount));
  return left.filter(({ usageCount }) => usageCount > least).length;
}

function cutoffAt(now: number): number {
  return now - selectionPolicy.maxUnusedDays * day;
}

function lastSign(output: OutputView): number {
  return output.lastUsage ?? Math.max(output.sourceUpdatedAt, output.generatedAt);
}
