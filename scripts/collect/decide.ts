import { isIncluded } from '../rollout/identity.ts';
import type { Found } from '../rollout/source.ts';
import type { EpochSeconds } from '../shared/clock.ts';

/** Why a session stays on this laptop. */
export type LeftOut =
  | 'sub_agent'
  | 'ephemeral'
  | 'own_run'
  | 'origin_excluded'
  | 'repository_excluded'
  | 'repository_not_included'
  | 'no_consent'
  | 'opted_out'
  | 'no_human_words'
  | 'too_old';

export interface SendPolicy {
  /** The repository's configuration: it can only narrow what the laptop allows. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly excludeOrigins: readonly string[];
  /** What the laptop allows. */
  readonly consented: readonly string[];
  isOptedOut(found: Found): boolean;
  /** Sessions without activity since then are not sent. */
  readonly notBefore: EpochSeconds;
}

/** @returns null for a session that may leave the machine. */
export function whyLeftOut(found: Found, policy: SendPolicy): LeftOut | null {
  const { thread, humanItems } = found;
  if (thread.kind === 'sub_agent' || thread.kind === 'ephemeral') return thread.kind;
  if (thread.kind === 'own') return 'own_run';
  if (policy.excludeOrigins.includes(thread.origin)) return 'origin_excluded';
  if ([thread.repo, ...thread.aliases].some((name) => isIncluded(name, policy.exclude))) return 'repository_excluded';
  if (!isIncluded(thread.repo, policy.include)) return 'repository_not_included';
  if (!isIncluded(thread.repo, policy.consented)) return 'no_consent';
  if (found.optsOut === true || policy.isOptedOut(found)) return 'opted_out';
  if (humanItems === 0) return 'no_human_words';
  return thread.updatedAt < policy.notBefore ? 'too_old' : null;
}
