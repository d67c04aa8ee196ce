import type { Remote } from '../git/remote-types.ts';
import type { Repository } from '../git/types.ts';
import { withoutRequested } from '../phase2/on-request.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Oid } from '../shared/files.ts';
import { openStateOfRef } from '../state/current.ts';
import { emptyNightRecord, type NightRecord } from '../state/night-record.ts';
import { emptyState, snapshotOf } from '../state/snapshot.ts';
import type { FilesByScope, StateTree } from '../state/tree.ts';
import { type Standing, type StandingFacts, standingOf } from './standing.ts';
import type { Start } from './start.ts';
import { type FoundFacts, proposedRuns, type RemoteTips, reachedRuns, standingFacts } from './team-facts.ts';
import { rebuiltNight, rebuiltState } from './team-lost.ts';
import { finishPending, treeAt } from './team-pending.ts';
import { placeOf } from './team-place.ts';
import { teamSwap } from './team-refs.ts';
import { afterVerdict, baselineFrom } from './team-verdict.ts';

export interface TeamStart {
  readonly start: Start;
  readonly standing: Standing;
  readonly tips: RemoteTips;
  /** What the state ref holds, a push that was begun being done or undone; null where there is none. */
  readonly settled: StateTree | null;
}

export interface TeamStartPorts {
  readonly repository: Repository;
  readonly remote: Remote;
  /** Before every push. @throws LeaseLostError */
  prove(): Promise<void>;
  /**
   * The pull request, as the host has it; null where it cannot be asked.
   * @param tips of the branch, recorded and today's: by them one is known of which no number is recorded.
   */
  findPullRequest(night: NightRecord, tips: readonly Oid[]): Promise<FoundFacts | null>;
}

/**
 * Where a night of a team starts: finishes a pending push, finds out what became of the last proposal, and takes the
 * memories from where people have them now.
 * @source design §4, "Start of a night"
 * @throws MemoryError when nobody knows what became of the proposal: nothing is paid, nothing held.
 */
export async function loadTeamStart(
  fetched: RemoteTips,
  delivery: StandingFacts['delivery'],
  ports: TeamStartPorts,
): Promise<TeamStart> {
  const { repository, remote } = ports;
  const loaded = fetched.state === null ? null : await treeAt(repository, fetched.state);
  const settled =
    loaded === null
      ? { tree: null, tips: fetched, unproposed: null }
      : await finishPending(loaded, fetched, { repository, swap: teamSwap(remote, ports.prove) });
  const isLost = settled.tree === null && delivery === 'pull-request' && settled.tips.proposal.oid !== null;
  const find = (record: NightRecord) => ports.findPullRequest(record, tipsOf(record, settled.tips));
  const lostTo = isLost ? await find(emptyNightRecord) : null;
  if (isLost && lostTo === null) throw unknown();
  const recorded = settled.tree?.night ?? (await rebuiltNight(repository, settled.tips, lostTo));
  const mustAsk = delivery === 'pull-request' && (await proposedRuns(repository, settled.tips, recorded)).length > 0;
  const found = lostTo ?? (mustAsk ? await find(recorded) : { recorded: null, open: null });
  const known = found?.recorded ?? found?.open ?? null;
  const night = known === null ? recorded : { ...recorded, pullRequest: { number: known.number, url: known.url } };
  const tips = found?.recorded?.state === 'merged' ? await withNewBase(settled.tips, remote) : settled.tips;
  const facts = await standingFacts(repository, tips, night, delivery, found);
  const standing = standingOf(facts);
  if (standing.from === 'unknown') throw unknown();
  const place = await placeOf(repository, tips, night, standing, delivery);
  const text = settled.tree?.text ?? null;
  const copy = text === null ? await rebuiltState(repository, tips) : null;
  const state = text === null ? (copy ?? (await emptyState())) : await openStateOfRef(text);
  const start: Start = {
    ...place,
    before: settled.tree === null ? null : place.before,
    reopened: null,
    isUnsettled: settled.tree === null ? copy !== null : loaded?.night.pendingPush !== null,
    unproposed: settled.unproposed,
    reachedAt: delivery === 'pull-request' ? await reachedRuns(repository, tips.base.oid) : null,
    state,
    stateText: text ?? snapshotOf(state),
    stateOid: fetched.state,
    night: { ...night, pendingPush: null, defaultBranchOid: tips.base.oid },
    baseline: settled.tree?.baseline ?? baselineFrom(place.memories),
    reviewed: settled.tree?.reviewed ?? new Map(),
    closed: settled.tree?.closed ?? new Map(),
  };
  const judged = withBooksCleaned(afterVerdict(start, standing, facts, place));
  return { start: judged, standing, tips, settled: settled.tree };
}

/** What the host merged or people closed may still say what was forgotten on request. */
function withBooksCleaned(start: Start): Start {
  const clean = withoutRequested(start.state);
  const all = (scopes: FilesByScope): FilesByScope =>
    new Map([...scopes].map(([scope, files]) => [scope, clean(files)]));
  const { baseline, reviewed, closed } = start;
  return {
    ...start,
    baseline: all(baseline),
    reviewed: all(reviewed),
    closed: new Map([...closed].map(([number, scopes]) => [number, all(scopes)])),
  };
}

function tipsOf(night: NightRecord, { proposal }: RemoteTips): Oid[] {
  return [night.recordedTips[proposal.ref] ?? null, proposal.oid].filter((tip) => tip !== null);
}

/** It was merged after the tips were fetched, perhaps: what is not there yet must not look as if a person removed it. */
async function withNewBase(tips: RemoteTips, remote: Remote): Promise<RemoteTips> {
  const { ref } = tips.base;
  return { ...tips, base: { ref, oid: (await remote.fetch([ref])).get(ref) ?? null } };
}

function unknown(): MemoryError {
  return new MemoryError(
    'The host could not be asked what became of the last pull request, so the night stops before it pays for anything.',
    'Run it again when the host answers and the token may read pull requests: npm run doctor says what is wrong.',
  );
}
