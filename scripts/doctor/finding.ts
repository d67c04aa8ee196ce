import { MemoryError } from '../shared/errors.ts';

/** Something that is wrong with a set-up. Texts may hold words of others: whoever shows them escapes them. */
export interface Finding {
  /** `error`: something does not work. `warning`: it will not for long, or not as well as it could. */
  readonly severity: 'error' | 'warning';
  /** Such as `model.key`. */
  readonly check: string;
  readonly what: string;
  /** Why it matters. */
  readonly why: string;
  /** What to do: a command where there is one. */
  readonly remedy: string;
}

/** Something was looked at, or could not be. `null` in its place: it was not looked at. */
export type Look<T> = { readonly seen: T } | { readonly error: MemoryError };

/** @returns what was seen, or the error that is for a person; any other flies. */
export async function look<T>(work: () => Promise<T>): Promise<Look<T>> {
  try {
    return { seen: await work() };
  } catch (error) {
    if (error instanceof MemoryError) return { error };
    throw error;
  }
}

/** An error shown as itself. */
export function shown(check: string, error: MemoryError, why: string): Finding {
  return { severity: 'error', check, what: error.message, why, remedy: error.hint };
}

/** Errors first; within a severity as they were found. */
export function worstFirst(findings: readonly Finding[]): Finding[] {
  const of = (wanted: Finding['severity']) => findings.filter(({ severity }) => severity === wanted);
  return [...of('error'), ...of('warning')];
}
