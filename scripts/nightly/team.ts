import type { Archive } from '../archive/archive.ts';
import { archiveTip } from '../archive/archive.ts';
import { expiredThreads, rewriteArchive } from '../archive/rewrite.ts';
import { archivedRollouts } from '../archive/rollouts.ts';
import { RefMovedError } from '../git/errors.ts';
import type { Remote } from '../git/remote-types.ts';
import type { Repository } from '../git/types.ts';
import type { Forge, Found as FoundRequest } from '../publish/forge.ts';
import { day } from '../shared/clock.ts';
import type { Config } from '../shared/config-schema.ts';
import { MemoryError, messageOf } from '../shared/errors.ts';
import type { Oid } from '../shared/files.ts';
import type { NightRecord } from '../state/night-record.ts';
import { stateRef } from '../state/ref.ts';
import { commitNight } from './commits.ts';
import { joinedRollouts } from './joined-rollouts.ts';
import { type Lease, type LeaseOutcome, type LeasePorts, type LeaseTerms, takeLease } from './lease.ts';
import { type NightPolicy, type NightPorts, type NightReport, type Played, playNight } from './night.ts';
import { propose, toldByNight } from './propose.ts';
import type { Standing } from './standing.ts';
import { fetchTips, proposedAt } from './team-facts.ts';
import { teamRefs } from './team-refs.ts';
import { loadTeamStart, type TeamStart } from './team-start.ts';

/** A night of a team: its refs are on a remote, its sessions come from there, people review it there. */
export interface Team {
  readonly config: Config;
  readonly delivery: 'push' | 'pull-request';
  readonly remote: Remote;
  /** null: no pull requests are opened, or the host has no such interface. */
  readonly forge: Forge | null;
  readonly archive: Archive;
  readonly lease: { readonly terms: LeaseTerms; readonly ports: LeasePorts };
  /** Calls `beat` every so many seconds until it is told to stop. */
  every(seconds: number, beat: () => Promise<void>): () => void;
  warn(text: string): void;
}

export type TeamNight =
  | { readonly outcome: 'held'; readonly by: Extract<LeaseOutcome, { outcome: 'held' }>['by'] }
  | { readonly outcome: 'played'; readonly report: NightReport; readonly standing: Standing['from'] };

const swapTries = 5;

/** The rest of a lease's life after which it is renewed. @source codex-rs: heartbeat of the consolidation's lease */
const renewSeconds = 90;

/**
 * One night under the team's lease. Whoever finds it held ends quietly; whoever loses a swap starts again from the new
 * state, and what was paid for is answered by the journal.
 */
export async function runTeamNight(
  policy: NightPolicy,
  ports: NightPorts,
  team: Team,
  signal?: AbortSignal,
): Promise<TeamNight> {
  const taken = await takeLease(team.lease.terms, team.lease.ports, signal);
  if (taken.outcome === 'held') return taken;
  const { lease } = taken;
  const lost = new AbortController();
  const stop = team.every(renewSeconds, () => lease.renew().catch((error: unknown) => lost.abort(error)));
  const either = signal === undefined ? lost.signal : AbortSignal.any([signal, lost.signal]);
  try {
    return await playUnderLease(policy, ports, team, lease, either);
  } finally {
    stop();
    await lease.release();
  }
}

async function playUnderLease(
  policy: NightPolicy,
  ports: NightPorts,
  team: Team,
  lease: Lease,
  signal: AbortSignal,
): Promise<TeamNight> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { report, standing } = await playOnce(policy, ports, team, lease, signal);
      ports.journal.clear([
        ...report.phase1.extracted,
        ...report.phase1.nothing,
        ...report.phase1.failed.map(({ threadId }) => threadId),
      ]);
      await dropExpired(report, ports, team, signal);
      return { outcome: 'played', report, standing: standing.from };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RefMovedError) || attempt === swapTries) throw error;
    }
  }
}

async function playOnce(
  policy: NightPolicy,
  ports: NightPorts,
  team: Team,
  lease: Lease,
  signal: AbortSignal,
): Promise<{ report: NightReport; standing: Standing }> {
  const { repository } = ports;
  const { base = null, branch } = team.config.delivery;
  const fetched = await fetchTips(team.remote, { base, branch }, signal);
  await refuseForeignState(repository, fetched.state);
  const begun = await loadTeamStart(fetched, team.delivery, {
    repository,
    remote: team.remote,
    prove: lease.prove,
    findPullRequest: (night) => findPullRequest(night, team, branch),
  });
  const archived = archivedRollouts(repository, await archiveTip(team.archive, signal));
  const rollouts = joinedRollouts(archived, ports.rollouts);
  const played = await playNight(begun.start, policy, { ...ports, rollouts }, signal);
  const commits = await commitNight(
    repository,
    teamRefs({
      remote: team.remote,
      prove: lease.prove,
      propose: (_start, _made, tip) => proposal(begun, played, tip, ports, team),
    }),
    begun.start,
    played.made,
  );
  await mirrorState(repository, commits.state);
  return { report: { ...played.report, commits }, standing: begun.standing };
}

async function proposal(
  { start, tips }: TeamStart,
  { made, report }: Played,
  tip: Oid,
  { repository, ledger }: NightPorts,
  { forge, config, delivery, warn }: Team,
): Promise<NightRecord['pullRequest']> {
  if (delivery !== 'pull-request' || forge === null) return start.night.pullRequest;
  const told = toldByNight(start.state, report, ledger);
  return propose(start, made, tip, { forge, config, tips, ...(await proposedAt(repository, tips, tip)), told, warn });
}

/** null where the host cannot be asked: the standing is then unknown. */
export async function findPullRequest(
  night: NightRecord,
  team: Team,
  headBranch: string,
): Promise<FoundRequest | null> {
  if (team.forge === null) return { recorded: null, open: null };
  try {
    const base = team.config.delivery.base ?? (await team.forge.repository()).defaultBranch;
    return await team.forge.find({ number: night.pullRequest?.number ?? null, headBranch, base });
  } catch (error) {
    team.warn(`The pull request cannot be looked at: ${messageOf(error)}`);
    return null;
  }
}

/** A clone's own state that did not grow from the team's, or the other way round, is nothing to choose silently. */
export async function refuseForeignState(repository: Repository, shared: Oid | null): Promise<void> {
  const own = await repository.readRef(stateRef);
  if (own === null || own === shared) return;
  const isOlder = shared !== null && (await repository.history(shared, 10_000)).some(({ oid }) => oid === own);
  if (isOlder) return;
  throw new MemoryError(
    'This clone has a state of its own that did not grow from the one on the remote.',
    'Choose one: npm run doctor -- --adopt remote (or local); both sides’ forgotten lines and citations are kept.',
  );
}

/** The local ref remembers what the remote has, for status, check and sql. */
export async function mirrorState(repository: Repository, shared: Oid | null): Promise<void> {
  const own = await repository.readRef(stateRef);
  if (shared !== null && own !== shared) await repository.swapRef(stateRef, own, shared);
}

/** Retention, last: sessions that are read or were reported as too old go after their time. Never fails a night. */
async function dropExpired(report: NightReport, { clock }: NightPorts, team: Team, signal: AbortSignal): Promise<void> {
  try {
    const notBefore = clock.now() - team.config.rollouts.retention_days * day;
    const late = new Set(['too_old', 'expired_unread', 'before_horizon']);
    const done = new Set([...report.phase1.extracted, ...report.phase1.nothing]);
    const mayGo = (threadId: string) => {
      const why = report.skipped.get(threadId);
      return done.has(threadId) || why === 'up_to_date' || (why !== undefined && late.has(why));
    };
    const threads = expiredThreads(report.found, mayGo, notBefore);
    if (threads.size === 0) return;
    await rewriteArchive(team.archive, { threads, notSince: notBefore }, { clock, signal });
  } catch (error) {
    team.warn(`Expired sessions stay on the rollouts ref for now: ${messageOf(error)}`);
  }
}
