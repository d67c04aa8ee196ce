import type { Ledger } from '../model/ledger.ts';
import { deltaOf } from '../publish/delta.ts';
import type { Forge } from '../publish/forge.ts';
import { leftOutByRule } from '../publish/left-out.ts';
import { linksOf } from '../publish/links.ts';
import type { Proposal } from '../publish/proposal.ts';
import { bodyOf, titleOf } from '../publish/text.ts';
import type { Config } from '../shared/config-schema.ts';
import type { Files, Oid } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { removedOf } from '../state/lines.ts';
import { ruleContext } from '../state/rule-context.ts';
import { listRuns } from '../state/runs.ts';
import { heldScopes } from '../state/scopes.ts';
import { threadByShortId } from '../state/threads.ts';
import { tombstonesOf } from '../state/tombstones.ts';
import type { RunRow } from '../state/types.ts';
import type { Made } from './commits.ts';
import type { Played } from './night.ts';
import type { Start } from './start.ts';
import type { RemoteTips } from './team-facts.ts';

export interface Proposing {
  readonly forge: Forge;
  readonly config: Config;
  readonly tips: RemoteTips;
  /** The memory as the default branch has it: what a reviewer compares with. */
  readonly reviewed: Files;
  /** Runs that the pull request holds, this one among them. */
  readonly runs: readonly string[];
  readonly told: Told;
  warn(text: string): void;
}

/** What a reviewer is told beside what the files show. */
export type Told = Pick<Proposal, 'scopes' | 'secrets' | 'usage' | 'next'>;

/** Opens the pull request, or gives the open one tonight's words. */
export async function propose(
  start: Pick<Start, 'state' | 'night'>,
  made: Pick<Made, 'runId' | 'files'>,
  tip: Oid,
  { forge, config, tips, ...rest }: Proposing,
) {
  const repository = await forge.repository();
  const base = tips.base.ref.replace('refs/heads/', '');
  const headBranch = tips.proposal.ref.replace('refs/heads/', '');
  const links = tips.base.oid === null ? null : linksOf(forge.kind, repository.url, tips.base.oid, tip);
  const proposal = proposalOf(start, made, links, rest);
  const { labels, reviewers, draft } = config.delivery;
  const wording = { title: titleOf(proposal), body: bodyOf(proposal), base, labels };
  const number = start.night.pullRequest?.number ?? null;
  const outcome =
    number === null
      ? await forge.open({ ...wording, headBranch, draft, reviewers })
      : await forge.refresh(number, wording);
  for (const warning of outcome.warnings) rest.warn(warning);
  return { number: outcome.pullRequest.number, url: outcome.pullRequest.url };
}

/** What tonight did. */
export function toldByNight(state: State, report: Played['report'], ledger: Ledger): Told {
  const { usage, usd, unpriced } = ledger.total();
  return {
    scopes: new Map(
      report.phase2.scopes.map(({ scope, restored, dropped }) => [
        scope,
        { restored, leftOut: leftOutByRule(dropped) },
      ]),
    ),
    secrets: report.phase1.secrets,
    usage: { ...usage, microUsd: unpriced > 0 ? null : Math.round(usd * 1_000_000) },
    next: {
      waiting: report.phase2.scopes.reduce((sum, { waiting }) => sum + waiting, 0) + report.phase1.left.length,
      failed: report.phase1.failed.length,
      held: heldScopes(state),
    },
  };
}

/** What the books still know of nights that are over: their sums. */
export function toldByBooks(state: State, runs: readonly string[]): Told {
  const nights = nightsOf(state, runs);
  const spent = nights.flatMap(({ usage }) => Object.values(usage));
  const sum = (name: string) => spent.reduce((total, phase) => total + (phase[name] ?? 0), 0);
  const secrets = nights.reduce((total, { counts }) => total + (counts.secrets ?? 0), 0);
  return {
    scopes: new Map(),
    secrets: secrets > 0 ? { 'of all rules': secrets } : {},
    usage: {
      requests: sum('requests'),
      input: sum('input'),
      cached: sum('cached'),
      output: sum('output'),
      microUsd: sum('micro_usd'),
    },
    next: { waiting: nights[0]?.counts.left ?? 0, failed: nights[0]?.counts.failed ?? 0, held: heldScopes(state) },
  };
}

function nightsOf(state: State, runs: readonly string[]): RunRow[] {
  return listRuns(state, 1_000).filter(({ runId }) => runs.includes(runId));
}

function proposalOf(
  { state }: Pick<Start, 'state'>,
  made: Pick<Made, 'runId' | 'files'>,
  links: Proposal['links'],
  { reviewed, runs, told }: Pick<Proposing, 'reviewed' | 'runs' | 'told'>,
): Proposal {
  const tombstones = tombstonesOf(state);
  const context = ruleContext(state, null, 'team');
  const nights = nightsOf(state, runs);
  return {
    runId: made.runId,
    nights: Math.max(1, nights.length),
    sessions: nights.reduce((sum, { counts }) => sum + (counts.extracted ?? 0) + (counts.nothing ?? 0), 0),
    delta: deltaOf(reviewed, made.files, {
      isPersonLine: context.isPersonLine,
      wasRemoved: (scope, hash) => removedOf(state, scope).has(hash),
      isTombstoned: (thread, item, scope) => {
        const threadId = threadByShortId(state, thread)?.threadId;
        return threadId !== undefined && tombstones.hidesEvidence(threadId, item, scope);
      },
    }),
    ...told,
    links,
  };
}
