import { type Archive, archiveTip } from '../archive/archive.ts';
import { threadOfNote } from '../archive/note-items.ts';
import { archivedNotes } from '../archive/notes.ts';
import { archivedRollouts } from '../archive/rollouts.ts';
import type { Remote } from '../git/remote-types.ts';
import type { Repository, Signature } from '../git/types.ts';
import { beginTeamNight } from '../nightly/begin.ts';
import { localRefs, type Refs } from '../nightly/commits.ts';
import { takeLease } from '../nightly/lease.ts';
import type { LeaseRecord } from '../nightly/lease-record.ts';
import { toldByBooks } from '../nightly/propose.ts';
import { loadStart, type Start } from '../nightly/start.ts';
import { reviewOf, type Team } from '../nightly/team.ts';
import { fetchTips } from '../nightly/team-facts.ts';
import { memoriesAt } from '../nightly/team-history.ts';
import { treeAt } from '../nightly/team-pending.ts';
import { teamRefs } from '../nightly/team-refs.ts';
import type { Rollouts } from '../rollout/source.ts';
import { type Clock, type EpochSeconds, isoTime } from '../shared/clock.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Oid } from '../shared/files.ts';
import { openStateOfRef } from '../state/current.ts';
import { emptyState } from '../state/snapshot.ts';
import type { Held } from './held.ts';

/** Where it is forgotten: in this repository alone, or on the remote that a team shares. */
export interface Place {
  readonly repository: Repository;
  readonly remote: Remote | null;
  readonly archive: Archive | null;
  /** Everything as it is now, only to be looked at: the state is a copy. */
  look(signal?: AbortSignal): Promise<Held>;
  /** Does something as a night does: alone, and from where a night would start. @throws NightAtWorkError */
  alone<T>(work: (working: Working) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** What sessions and notes say, here and on the team's ref. */
type Said = Pick<Held, 'rollouts' | 'notes'>;

export interface Working {
  /** `isProposed`: a pull request, or a branch for one, waits for its verdict. */
  begin(): Promise<{
    readonly start: Start;
    readonly refs: Refs;
    readonly said: Said;
    readonly isProposed: boolean;
  }>;
}

interface PlacePorts {
  readonly repository: Repository;
  readonly clock: Clock;
  readonly author: Signature;
  /** This machine's sessions. */
  readonly rollouts: Rollouts;
  readonly clean: (rollouts: Rollouts) => Rollouts;
}

export function localPlace(ports: PlacePorts, remote: Remote | null, archive: Archive | null): Place {
  const { repository } = ports;
  return {
    repository,
    remote,
    archive,
    look: async (signal) => {
      const { state, memories, baseline, reviewed, closed } = await loadStart(repository, 'look');
      return { state, memories, baseline, reviewed, closed, ...(await sessions(archive, ports, signal)) };
    },
    alone: (work, signal) =>
      work({
        begin: async () => ({
          start: await loadStart(repository),
          refs: { ...localRefs(repository), forgets: true },
          said: await sessions(archive, ports, signal),
          isProposed: false,
        }),
      }),
  };
}

export function teamPlace(ports: PlacePorts, team: Team): Place {
  const { repository, clock, author } = ports;
  const { base = null, branch } = team.config.delivery;
  return {
    repository,
    remote: team.remote,
    archive: team.archive,
    look: async (signal) => {
      const tips = await fetchTips(team.remote, { base, branch }, signal);
      const tree = tips.state === null ? null : await treeAt(repository, tips.state);
      return {
        state: tree === null ? await emptyState() : await openStateOfRef(tree.text),
        memories: await memoriesAt(repository, tips.proposal.oid ?? tips.base.oid),
        baseline: tree?.baseline ?? new Map(),
        reviewed: tree?.reviewed ?? new Map(),
        closed: tree?.closed ?? new Map(),
        ...(await sessions(team.archive, ports, signal)),
      };
    },
    alone: async (work, signal) => {
      const taken = await takeLease(team.lease.terms, team.lease.ports, signal);
      if (taken.outcome === 'held') throw new NightAtWorkError(taken.by);
      const { prove, release } = taken.lease;
      try {
        return await work({
          begin: async () => {
            const begun = await beginTeamNight(team, { repository, clock, author, retrySeconds: 3_600, prove }, signal);
            const propose = (start: Start, made: Parameters<Refs['follow']>[1], tip: Oid) =>
              reviewOf(
                start,
                { made, tip, told: toldByBooks(start.state, [made.runId]) },
                begun.tips,
                repository,
                team,
              );
            const refs = { ...teamRefs({ remote: team.remote, prove, propose }), forgets: true };
            const said = await sessions(team.archive, ports, signal);
            return { start: begun.start, refs, said, isProposed: begun.standing.from === 'branch' };
          },
        });
      } finally {
        await release();
      }
    },
  };
}

async function sessions(
  archive: Archive | null,
  { repository, rollouts, clean }: PlacePorts,
  signal: AbortSignal | undefined,
): Promise<Said> {
  const tip = archive === null ? null : await archiveTip(archive, signal);
  const { notes } = await archivedNotes(repository, tip);
  return {
    rollouts: [clean(archivedRollouts(repository, tip)), rollouts],
    notes: notes.flatMap((note) => threadOfNote(note) ?? []),
  };
}

/** Whoever works alone has to wait for it. */
export class NightAtWorkError extends MemoryError {
  readonly worker: string;
  readonly until: EpochSeconds;

  constructor({ worker, leaseUntil }: Pick<LeaseRecord, 'worker' | 'leaseUntil'>) {
    super(
      `A night is at work (${worker}), and may be until ${isoTime(leaseUntil)}; nothing was forgotten.`,
      'Run it again when it has ended.',
    );
    this.worker = worker;
    this.until = leaseUntil;
  }
}
