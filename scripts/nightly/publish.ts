import type { Repository, Signature } from '../git/types.ts';
import type { Found } from '../publish/forge.ts';
import type { Clock } from '../shared/clock.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Oid } from '../shared/files.ts';
import type { NightRecord, PendingPush } from '../state/night-record.ts';
import { stateRef, writeStateCommit } from '../state/ref.ts';
import type { StateTree } from '../state/tree.ts';
import { findPullRequest, mirrorState, refuseForeignState } from './begin.ts';
import { type Lease, takeLease } from './lease.ts';
import type { LeaseRecord } from './lease-record.ts';
import { propose, toldByBooks } from './propose.ts';
import type { Standing } from './standing.ts';
import type { Team } from './team.ts';
import { fetchTips, proposedAt } from './team-facts.ts';
import { treeAt } from './team-pending.ts';
import { teamRefs } from './team-refs.ts';
import { loadTeamStart, type TeamStart } from './team-start.ts';

export interface PublishPorts {
  readonly repository: Repository;
  readonly clock: Clock;
  readonly author: Signature;
}

export type Published =
  | { readonly outcome: 'held'; readonly by: LeaseRecord }
  | { readonly outcome: 'nothing'; readonly why: string }
  | {
      readonly outcome: 'published';
      /** The push that a night had begun and that is done now. */
      readonly finished: PendingPush | null;
      readonly pullRequest: NightRecord['pullRequest'];
    };

/**
 * Finishes what a night left, under its lease: a push that was begun, and the pull request for what the branch holds.
 * Reads no session, asks no model; run again it finds nothing to do.
 * @throws MemoryError where the branch went on without the commits of a pending push.
 */
export async function publishLeft(team: Team, ports: PublishPorts, signal?: AbortSignal): Promise<Published> {
  const taken = await takeLease(team.lease.terms, team.lease.ports, signal);
  if (taken.outcome === 'held') return taken;
  try {
    return await publishUnderLease(team, ports, taken.lease, signal);
  } finally {
    await taken.lease.release();
  }
}

async function publishUnderLease(
  team: Team,
  ports: PublishPorts,
  { prove }: Lease,
  signal: AbortSignal | undefined,
): Promise<Published> {
  const { repository } = ports;
  const { base = null, branch } = team.config.delivery;
  const fetched = await fetchTips(team.remote, { base, branch }, signal);
  await refuseForeignState(repository, fetched.state);
  if (fetched.state === null) return { outcome: 'nothing', why: 'no night has delivered anything yet' };
  const tree = await treeAt(repository, fetched.state);
  let found: Found | null = null;
  const begun = await loadTeamStart(fetched, team.delivery, {
    repository,
    remote: team.remote,
    prove,
    findPullRequest: async (night, tips) => {
      found = await findPullRequest(night, team, branch, tips);
      return found;
    },
  });
  if (begun.settled?.text !== tree.text) throw lostCommits(tree.night.pendingPush);
  const finished = tree.night.pendingPush;
  const isWanted = finished !== null || tree.night.pullRequest === null || openOf(found) === null;
  const pullRequest = isWanted ? await proposed(begun, tree, team, repository) : null;
  if (finished === null && pullRequest === null) return { outcome: 'nothing', why: whyNothing(begun, tree, team) };
  const night = { ...tree.night, pendingPush: null, pullRequest: pullRequest ?? tree.night.pullRequest };
  await save({ ...tree, night }, fetched.state, team, ports, prove);
  return { outcome: 'published', finished, pullRequest };
}

/** A variable that a callback sets is not seen to change. */
function openOf(found: Found | null): Found['open'] {
  return found?.open ?? null;
}

/** @returns null where there is nothing to open one for. */
async function proposed(
  { start, standing, tips }: TeamStart,
  { night }: StateTree,
  { forge, config, delivery, warn }: Team,
  repository: Repository,
): Promise<NightRecord['pullRequest']> {
  const tip = tips.proposal.oid;
  if (delivery !== 'pull-request' || forge === null || standing.from !== 'branch' || tip === null) return null;
  const files = await repository.readFiles(tip, ['memories']);
  const facts = await proposedAt(repository, tips, tip);
  const told = toldByBooks(start.state, facts.runs);
  const runId = facts.runs.at(-1) ?? night.lastRun?.runId ?? '';
  return propose({ state: start.state, night }, { runId, files }, tip, { forge, config, tips, ...facts, told, warn });
}

async function save(
  tree: StateTree,
  expected: Oid,
  { remote }: Team,
  { repository, clock, author }: PublishPorts,
  prove: () => Promise<void>,
): Promise<void> {
  const message = `state: run ${tree.night.lastRun?.runId ?? 'unknown'} published\n`;
  const commit = await writeStateCommit(repository, { expected, tree, at: clock.now(), author, message });
  const refs = teamRefs({ remote, prove, propose: async () => tree.night.pullRequest });
  await refs.swap(stateRef, expected, commit);
  await mirrorState(repository, commit);
}

function whyNothing({ standing, tips }: TeamStart, { night }: StateTree, { delivery, forge }: Team): string {
  if (delivery === 'pull-request' && forge === null && standing.from === 'branch') {
    return `${tips.proposal.ref} is pushed, and this host has no interface for pull requests: open it by hand`;
  }
  return standing.from === 'branch' && night.pullRequest !== null
    ? `pull request ${night.pullRequest.number} is open and holds what the last night pushed`
    : reasons[standing.from];
}

const reasons: Readonly<Record<Standing['from'], string>> = {
  default: 'everything that was delivered is where it should be',
  merged: 'what was proposed is merged',
  branch: 'the branch holds what the last night pushed',
  closed: 'the pull request was closed, and the next night decides what becomes of it',
  unknown: 'nobody knows what became of the last pull request',
};

function lostCommits(pending: PendingPush | null): MemoryError {
  return new MemoryError(
    `Run ${pending?.runId ?? 'unknown'} has not pushed its commits to ${pending?.ref ?? 'its branch'}: the branch went on without them.`,
    'Play it again: npm run nightly, which builds on what stands there and pays for nothing twice where its journal is.',
  );
}
