import { type Archive, archiveTip } from '../archive/archive.ts';
import { archivedNotes } from '../archive/notes.ts';
import { archivedRollouts } from '../archive/rollouts.ts';
import { RefMovedError } from '../git/errors.ts';
import type { Remote } from '../git/remote-types.ts';
import type { Repository } from '../git/types.ts';
import type { Forge } from '../publish/forge.ts';
import type { Config } from '../shared/config-schema.ts';
import { messageOf } from '../shared/errors.ts';
import type { Oid } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import type { NightRecord } from '../state/night-record.ts';
import { commitTold } from './accounts.ts';
import { beginTeamNight, mirrorState } from './begin.ts';
import type { Made } from './commits.ts';
import { askedSince, dropForgotten, obeyArchive } from './forgotten-sessions.ts';
import { joinedRollouts } from './joined-rollouts.ts';
import { type Lease, type LeaseOutcome, type LeasePorts, type LeaseTerms, takeLease } from './lease.ts';
import { type NightPolicy, type NightPorts, type NightReport, playNight } from './night.ts';
import { propose, type Told, toldByNight } from './propose.ts';
import { dropExpired, expiredTonight } from './retention.ts';
import { clearJournal } from './run.ts';
import type { Standing } from './standing.ts';
import type { Start } from './start.ts';
import { proposedAt, type RemoteTips } from './team-facts.ts';
import { teamRefs } from './team-refs.ts';

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
    await lease.release().catch((error: unknown) => team.warn(`The lease runs out by itself: ${messageOf(error)}`));
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
      const { report, standing, state } = await playOnce(policy, ports, team, lease, signal);
      ports.batches?.saved(report.batches.batches);
      clearJournal(ports.journal, report);
      const expired = expiredTonight(report, team.config, ports.clock.now());
      const last = { clock: ports.clock, warn: team.warn, signal };
      await dropExpired(expired, team.archive, last);
      await dropForgotten(state, team.archive, last);
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
): Promise<{ report: NightReport; standing: Standing; state: State }> {
  const { repository, clock } = ports;
  const terms = { author: policy.author, retrySeconds: policy.extraction.retrySeconds };
  const begun = await beginTeamNight(team, { repository, clock, prove: lease.prove, ...terms }, signal);
  const tip = await archiveTip(team.archive, signal);
  await obeyArchive(begun.start.state, repository, tip, clock.now());
  const archived = archivedRollouts(repository, tip);
  const rollouts = joinedRollouts(archived, ports.rollouts);
  const played = await playNight(
    begun.start,
    policy,
    { ...ports, rollouts, notes: notesOn(repository, tip, ports.notes) },
    signal,
  );
  const asked = await askedSince(team.archive, tip, signal);
  if (asked !== null) throw new RefMovedError(team.archive.ref, tip, asked);
  const commits = await commitTold(
    ports,
    teamRefs({
      remote: team.remote,
      prove: lease.prove,
      propose: (start, made, tip) => {
        const told = toldByNight(start.state, played.report, ports.ledger);
        return reviewOf(start, { made, tip, told }, begun.tips, repository, team);
      },
    }),
    begun.start,
    played.made,
  );
  await mirrorState(repository, commits.state);
  return { report: { ...played.report, commits }, standing: begun.standing, state: begun.start.state };
}

/** The team's notes, and what waits on this machine to be carried. */
function notesOn(repository: Repository, tip: Oid | null, here: NightPorts['notes']): NonNullable<NightPorts['notes']> {
  return async (signal) => [...(await archivedNotes(repository, tip)).notes, ...((await here?.(signal)) ?? [])];
}

/** The pull request for what the branch holds now; without a host that has such, whatever is recorded. */
export async function reviewOf(
  start: Pick<Start, 'state' | 'night'>,
  { made, tip, told }: { readonly made: Made; readonly tip: Oid; readonly told: Told },
  tips: RemoteTips,
  repository: Repository,
  { forge, config, delivery, warn }: Team,
): Promise<NightRecord['pullRequest']> {
  if (delivery !== 'pull-request' || forge === null) return start.night.pullRequest;
  return propose(start, made, tip, { forge, config, tips, ...(await proposedAt(repository, tips, tip)), told, warn });
}
