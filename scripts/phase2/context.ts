import type { Files } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { evidenceByShortId } from '../state/evidence.ts';
import { linesOf } from '../state/lines.ts';
import { threadByShortId } from '../state/threads.ts';
import { bulletsOf, parseHandbook } from '../workspace/handbook.ts';
import { handbookPath, type Scope } from '../workspace/layout.ts';
import type { ItemFact, RuleContext } from '../workspace/violation.ts';

/** What the rules ask about things outside the files, answered from the state; each thread is looked up once. */
export function ruleContext(state: State, scope: Scope | null, audience: 'team' | 'person'): RuleContext {
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

/** Ids of the threads that a human-stated line of the handbook rests on: they do not age. */
export function pinnedThreads(state: State, files: Files, context: RuleContext): Set<string> {
  const pinned = new Set<string>();
  for (const block of parseHandbook(files.get(handbookPath) ?? '').blocks) {
    for (const { evidence } of bulletsOf(block)) {
      const isHuman = evidence.some(({ thread, items }) =>
        items.some((item) => context.evidenceOf(thread, item)?.who === 'human'),
      );
      if (isHuman) for (const { thread } of evidence) pinned.add(threadByShortId(state, thread)?.threadId ?? '');
    }
  }
  pinned.delete('');
  return pinned;
}

function factsOf(state: State, shortId: string): ReadonlyMap<string, ItemFact> {
  const repo = threadByShortId(state, shortId)?.repo ?? '';
  return new Map(evidenceByShortId(state, shortId).map((row) => [row.n, { who: row.who, repo }]));
}
