import type { State, Value } from './database.ts';

/**
 * What is reckoned from one table alone, kept for the last arguments until a row of the table may have changed: for what
 * every scope asks anew.
 */
export function keptFor<A extends readonly Value[], T>(
  table: string,
  reckon: (state: State, ...of: A) => T,
): (state: State, ...of: A) => T {
  const kept = new WeakMap<State, { readonly version: number; readonly of: A; readonly answer: T }>();
  return (state, ...of) => {
    const version = state.versionOf(table);
    const last = kept.get(state);
    if (last?.version === version && of.every((value, index) => value === last.of[index])) return last.answer;
    const answer = reckon(state, ...of);
    kept.set(state, { version, of, answer });
    return answer;
  };
}
