import { isIncluded } from '../rollout/identity.ts';
import { day, type EpochSeconds } from '../shared/clock.ts';
import type { Config } from '../shared/config-schema.ts';
import type { Files } from '../shared/files.ts';
import { listCitations } from '../state/citations.ts';
import type { State } from '../state/database.ts';
import { listRuns } from '../state/runs.ts';
import { agentUses } from '../status/usage.ts';
import { memorySummaryPath, sizeLimits } from '../workspace/layout.ts';
import type { Finding } from './finding.ts';

/** From here on the summary is nearly full. */
const nearlyFull = 0.8;

/** A summary over its budget, or nearly. */
export function summaryFindings(memories: Files): Finding[] {
  const size = memories.get(memorySummaryPath)?.length ?? 0;
  const share = size / sizeLimits.summaryCharacters;
  if (share < nearlyFull) return [];
  return [
    {
      severity: share > 1 ? 'error' : 'warning',
      check: 'memory.summary_budget',
      what: `${memorySummaryPath} has ${size} of ${sizeLimits.summaryCharacters} characters`,
      why: 'It opens every session; what is over the budget is cut.',
      remedy: `Shorten ${memorySummaryPath} (your lines stay yours), then: npm run check`,
    },
  ];
}

/** So long after the first night somebody should have used something. */
const settledDays = 7;

/** A memory that no agent says it used. */
export function readerFindings(state: State, { memory }: Config, now: EpochSeconds): Finding[] {
  const first = listRuns(state, 10_000).at(-1);
  if (first === undefined || now - first.finishedAt < settledDays * day) return [];
  const horizon = now - memory.max_unused_days * day;
  if (listCitations(state).some(({ at }) => at >= horizon)) return [];
  return [
    {
      severity: 'warning',
      check: 'memory.no_reader',
      what: `No agent has cited the memory in ${memory.max_unused_days} days`,
      why: 'What is useful cannot be told from what is not, so memories age by time alone.',
      remedy: `Have the agents read it: name ${memorySummaryPath} in the AGENTS.md or CLAUDE.md of the repositories that are included`,
    },
  ];
}

/** So many sessions that were given memory should have cited some of it. */
const tellingSessions = 5;

/** Agents that are given memory and never say what they used. */
export function citingFindings(state: State, { memory }: Config, now: EpochSeconds): Finding[] {
  const days = memory.max_unused_days;
  return agentUses(state, days, now)
    .filter(({ injected, citing }) => citing === 0 && injected >= tellingSessions)
    .map(({ agent, injected }) => ({
      severity: 'warning',
      check: 'memory.never_cites',
      what: `${agent} was given memory in ${injected} sessions of the last ${days} days and cited none of it`,
      why: 'What its sessions use cannot be told, so for them memories age by time alone.',
      remedy: `See whether its answers still end in the citation block and its sessions are sent whole: npm run status -- --usage, npm run collect -- --show <id>`,
    }));
}

/** Entries of `include` that no session is of. @param repositories ids of every session that is known here. */
export function includeFindings({ include }: Config, repositories: ReadonlySet<string>): Finding[] {
  return include
    .filter((entry) => ![...repositories].some((id) => isIncluded(id, [entry])))
    .map((entry) => ({
      severity: 'warning',
      check: 'memory.include',
      what: `include names ${entry}, and no session of it is known here`,
      why: 'A misspelt name leaves its sessions out without a word.',
      remedy: 'Compare with what is found: npm run status; on a laptop: npm run collect -- --dry-run',
    }));
}
