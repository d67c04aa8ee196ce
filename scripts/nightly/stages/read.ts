import { archivedNotes } from '../../archive/notes.ts';
import { archivedRollouts } from '../../archive/rollouts.ts';
import { redactedRollouts } from '../../rollout/redacted.ts';
import { UsageError } from '../../shared/errors.ts';
import { createRedactor } from '../../shared/redact.ts';
import { obeyArchive } from '../forgotten-sessions.ts';
import { proveHeld } from '../lease.ts';
import { nightPolicy } from '../policy.ts';
import { withProvider } from '../settings.ts';
import { nightsOf, takeStagedShards } from '../shard-journals.ts';
import { type NoShard, type ShardCall, type ShardStart, whyUnsplit } from '../shard-start.ts';
import { openTeam } from '../team-command.ts';
import { provenOnce, startFrom, startOfRun, whatMoved } from './claimed.ts';
import { secondsOf } from './stage.ts';

/** The job's own time-out; the last part of it is kept for handing over. */
const shardMinutes = 45;
const handOverSeconds = 5 * 60;

/**
 * For one of the jobs that read between claim and remember: exactly what claim saw, with rights to read only. What
 * moved since, or a lease that does not cover the job, ends it unpaid.
 */
export async function claimedShard({ shard, repository, config, world }: ShardCall): Promise<ShardStart | NoShard> {
  const { mode } = config.delivery;
  if (mode === 'commit') return { nothing: 'Nothing to do: only a night that delivers to a team is claimed.' };
  refuseWishes(world.flags);
  const stage = { repository, config, delivery: mode, world };
  const file = await startOfRun(stage);
  const told = withProvider(config, file.wishes.model);
  const unsplit = whyUnsplit(told);
  if (unsplit !== null) return { nothing: unsplit };
  if (file.shards !== shard.count) {
    throw new UsageError(
      `The night was claimed in ${file.shards} parts, not in ${shard.count}.`,
      'Give claim the number of parts, --shards <n>, and each job one of them: the workflow does both.',
    );
  }
  const seconds = secondsOf(world, 'CTM_SHARD_MINUTES', shardMinutes);
  const until = world.clock.now() + seconds;
  const team = await openTeam(mode, told, repository, world);
  const what = await whatMoved(file, team, until, stage);
  if (what !== null) return { nothing: `Nothing was read or paid: ${what} moved after the claim.` };
  const redactor = createRedactor(world.env);
  takeStagedShards(repository, file, (text) => redactor.redact(text), world);
  const start = await startFrom(file, team, stage);
  await obeyArchive(start.state, repository, file.rollouts.oid, world.clock.now());
  return {
    config: told,
    night: { name: file.runId, nights: nightsOf([file.runId]) },
    start,
    policy: { ...nightPolicy(told, { ...file.wishes, all: false }), only: new Set(file.threads) },
    ports: {
      rollouts: redactedRollouts(archivedRollouts(repository, file.rollouts.oid), redactor),
      notes: async () => (await archivedNotes(repository, file.rollouts.oid)).notes,
    },
    limitSeconds: Math.min(told.budget.minutes * 60, Math.max(60, seconds - handOverSeconds)),
    prove: (extractor) => provenOnce(extractor, () => proveHeld(file.lease, until, team.lease.ports)),
  };
}

function refuseWishes(flags: ShardCall['world']['flags']): void {
  const [first] = ['model', 'since', 'source', 'now'].filter(
    (name) => flags.isOn(name) || flags.listOf(name).length > 0,
  );
  if (first === undefined) return;
  throw new UsageError(
    `--claimed takes no --${first}.`,
    'Give it to nightly --stage claim, which tells the other jobs.',
  );
}
