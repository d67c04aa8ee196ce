import type { Scope } from '../workspace/layout.ts';
import { type Session, sessionOfExtract } from '../workspace/said.ts';
import type { ItemFact, RuleContext } from '../workspace/violation.ts';
import type { State } from './database.ts';
import { evidenceByShortId } from './evidence.ts';
import { linesOf } from './lines.ts';
import { outputsOfThread } from './outputs.ts';
import { noteAgent, threadByShortId } from './threads.ts';

/** What the rules ask about things outside the files, answered from the state; each thread is looked up once. */
export function ruleContext(state: State, scope: Scope | null, audience: RuleContext['audience']): RuleContext {
  const facts = new Map<string, ReadonlyMap<string, ItemFact>>();
  const lines = new Map<Scope, ReadonlySet<string>>();
  const sessions = new Map<string, Session | null>();
  const factOf = (thread: string, item: string): ItemFact | null => {
    const known = facts.get(thread) ?? factsOf(state, thread);
    facts.set(thread, known);
    return known.get(item) ?? null;
  };
  return {
    scope,
    audience,
    isPersonLine: (of, hash) => {
      const known = lines.get(of) ?? new Set(linesOf(state, of).map((line) => line.hash));
      lines.set(of, known);
      return known.has(hash);
    },
    evidenceOf: factOf,
    sessionOf: (thread) => {
      const known = sessions.get(thread);
      if (known !== undefined) return known;
      const texts = textsOf(state, thread);
      const session = texts.length === 0 ? null : sessionOfExtract(texts, (n) => factOf(thread, n)?.who ?? null);
      sessions.set(thread, session);
      return session;
    },
  };
}

/** What phase 1 wrote of a session: all that consolidation was given of it. */
function textsOf(state: State, shortId: string): string[] {
  const thread = threadByShortId(state, shortId);
  return thread === null
    ? []
    : outputsOfThread(state, thread.threadId).flatMap(({ rawMemory, rolloutSummary }) => [rawMemory, rolloutSummary]);
}

function factsOf(state: State, shortId: string): ReadonlyMap<string, ItemFact> {
  const thread = threadByShortId(state, shortId);
  const of = { repo: thread?.repo ?? '', ...(thread?.agent === noteAgent ? { isNote: true } : {}) };
  return new Map(evidenceByShortId(state, shortId).map((row) => [row.n, { who: row.who, ...of }]));
}
