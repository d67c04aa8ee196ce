import type { Scope } from '../workspace/layout.ts';
import type { ItemFact, RuleContext } from '../workspace/violation.ts';
import type { State } from './database.ts';
import { evidenceByShortId } from './evidence.ts';
import { linesOf } from './lines.ts';
import { noteAgent, threadByShortId } from './threads.ts';

/** What the rules ask about things outside the files, answered from the state; each thread is looked up once. */
export function ruleContext(state: State, scope: Scope | null, audience: RuleContext['audience']): RuleContext {
  const facts = new Map<string, ReadonlyMap<string, ItemFact>>();
  const lines = new Map<Scope, ReadonlySet<string>>();
  return {
    scope,
    audience,
    isPersonLine: (of, hash) => {
      const known = lines.get(of) ?? new Set(linesOf(state, of).map((line) => line.hash));
      lines.set(of, known);
      return known.has(hash);
    },
    evidenceOf: (thread, item) => {
      const known = facts.get(thread) ?? factsOf(state, thread);
      facts.set(thread, known);
      return known.get(item) ?? null;
    },
  };
}

function factsOf(state: State, shortId: string): ReadonlyMap<string, ItemFact> {
  const thread = threadByShortId(state, shortId);
  const of = { repo: thread?.repo ?? '', ...(thread?.agent === noteAgent ? { isNote: true } : {}) };
  return new Map(evidenceByShortId(state, shortId).map((row) => [row.n, { who: row.who, ...of }]));
}
