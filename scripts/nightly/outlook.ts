import type { BatchRecord } from '../model/batch-record.ts';
import { claimSessions } from '../phase1/claim.ts';
import type { SkipReason } from '../phase1/decide.ts';
import type { Found } from '../rollout/source.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { State } from '../state/database.ts';
import type { ExtractorClass } from '../state/types.ts';
import { askedAbout, underWay } from './batches.ts';
import type { NightPolicy } from './night.ts';
import { whatToRead } from './reading.ts';

/** What a night would do with the sessions that there are. */
export interface Outlook {
  /** In the order in which they would be read. */
  readonly ready: readonly Found[];
  /** Thread id → why it would not be read, by thread id. */
  readonly skipped: ReadonlyMap<string, SkipReason>;
}

/**
 * Decides as a night does that finds every batch under way as it was seen last. The claims stand in the state afterwards:
 * let go of it, or look at it before.
 */
export function outlook(
  state: State,
  found: readonly Found[],
  policy: Pick<NightPolicy, 'reading' | 'extraction'>,
  extractorClass: ExtractorClass,
  now: EpochSeconds,
  batches: readonly BatchRecord[] = [],
): Outlook {
  const ours = extractorClass === 'llm' ? batches : [];
  const { candidates, skipped } = whatToRead({ state }, found, { ...policy.reading, asked: askedAbout(ours) }, now);
  const { leaseSeconds, ignoreBackoff } = policy.extraction;
  const terms = {
    runId: 'outlook',
    extractorClass,
    now,
    leaseSeconds,
    ignoreBackoff,
    underWay: askedAbout(underWay(ours)),
  };
  const { claimed, refused } = claimSessions(state, candidates, terms);
  return { ready: claimed.map((entry) => entry.found), skipped: new Map([...skipped, ...refused]) };
}

/** The class of what `model.provider` names. */
export function extractorClassOf(provider: 'builtin' | 'openai' | undefined): ExtractorClass {
  return provider === 'openai' ? 'llm' : 'builtin';
}
