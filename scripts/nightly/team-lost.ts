import type { Repository } from '../git/types.ts';
import { statePath } from '../state/current.ts';
import type { State } from '../state/database.ts';
import { laterCopy } from '../state/later-copy.ts';
import { emptyNightRecord, type NightRecord } from '../state/night-record.ts';
import { openState } from '../state/snapshot.ts';
import { listTombstones, setTombstone } from '../state/tombstones.ts';
import type { FoundFacts, RemoteTips } from './team-facts.ts';
import { forkPoint } from './team-history.ts';

/**
 * What a lost state ref said of the last proposal, as far as the branches and the host still tell: one that the host still
 * knows by its tip has the verdict that it has; of any other nothing is held against anybody.
 */
export async function rebuiltNight(
  repository: Repository,
  { base, proposal }: RemoteTips,
  found: FoundFacts | null,
): Promise<NightRecord> {
  if (found === null || proposal.oid === null) return emptyNightRecord;
  const known = found.open ?? found.recorded;
  const fork = base.oid === null ? null : await forkPoint(repository, base.oid, proposal.oid);
  return {
    ...emptyNightRecord,
    recordedTips: known === null ? {} : { [proposal.ref]: proposal.oid },
    pullRequest: known && { number: known.number, url: known.url },
    defaultBranchOid: fork,
  };
}

/** The published copy with the later night, of default branch and proposal, with the tombstones of both; null without any. */
export async function rebuiltState(repository: Repository, { base, proposal }: RemoteTips): Promise<State | null> {
  const [ours, theirs] = [await copyAt(repository, base.oid), await copyAt(repository, proposal.oid)];
  const only = ours ?? theirs;
  if (only === null) return null;
  if (ours === null || theirs === null) return openState(only);
  const choice = await laterCopy(ours, theirs);
  if (choice.keep === null) throw choice.faults.ours;
  const state = await openState(choice.keep === 'ours' ? ours : theirs);
  if (choice.because === 'damaged' || choice.because === 'equal') return state;
  const other = await openState(choice.keep === 'ours' ? theirs : ours);
  for (const tombstone of listTombstones(other)) if (tombstone.liftedAt === null) setTombstone(state, tombstone);
  other.close();
  return state;
}

async function copyAt(repository: Repository, commit: string | null): Promise<string | null> {
  if (commit === null) return null;
  return (await repository.readFiles(commit, [statePath])).get(statePath) ?? null;
}
