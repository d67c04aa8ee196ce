import { archiveTip } from '../../archive/archive.ts';
import { archivedNotes } from '../../archive/notes.ts';
import { archivedRollouts } from '../../archive/rollouts.ts';
import { redactedRollouts } from '../../rollout/redacted.ts';
import type { Rollouts } from '../../rollout/source.ts';
import type { ExitCode } from '../../shared/errors.ts';
import { exitCodes } from '../../shared/errors.ts';
import { terminalText } from '../../shared/escape.ts';
import { createRedactor } from '../../shared/redact.ts';
import { parseShardCount } from '../../shared/shard.ts';
import { openStateOfRef } from '../../state/current.ts';
import { emptyNightRecord } from '../../state/night-record.ts';
import { stateRef, writeStateCommit } from '../../state/ref.ts';
import { snapshotOf } from '../../state/snapshot.ts';
import type { StateTree } from '../../state/tree.ts';
import { type Begun, beginTeamNight, mirrorState } from '../begin.ts';
import { dryRun } from '../dry-run.ts';
import { type Lease, takeLease } from '../lease.ts';
import type { NightPolicy } from '../night.ts';
import { extractorClassOf, outlook } from '../outlook.ts';
import { nightPolicy } from '../policy.ts';
import { whatToRead } from '../reading.ts';
import { wishesOf } from '../settings.ts';
import { whyUnsplit } from '../shard-start.ts';
import type { Team } from '../team.ts';
import { actionsRunsFor, openTeam } from '../team-command.ts';
import { teamSwap } from '../team-refs.ts';
import { quiet } from '../tell.ts';
import { closeRun, sliceAfter } from '../unfinished.ts';
import { handOvers, removeHandOvers, writeHandOver } from './folder.ts';
import { hasWork } from './rehearsal.ts';
import { type Stage, secondsOf } from './stage.ts';
import { type StartFile, startFileOf } from './start-file.ts';

/** The time-outs of all three jobs, and some waiting between them. */
const leaseMinutes = 150;

/**
 * Takes the lease for all three stages and says in `start.json` what the night may read and what it starts from. A
 * lease that somebody holds, a quiet night and a dry run end here, with nothing handed on.
 */
export async function claim(stage: Stage): Promise<ExitCode> {
  const { repository, config, delivery, world } = stage;
  const { flags, env, signal } = world;
  const policy = nightPolicy(config, { ...wishesOf(flags), all: false });
  const shards = parseShardCount(flags.valueOf('shards') ?? '1');
  const leaseSeconds = secondsOf(world, 'CTM_LEASE_MINUTES', leaseMinutes);
  const team = await openTeam(delivery, config, repository, world, leaseSeconds);
  const tip = await archiveTip(team.archive, signal);
  const rollouts = redactedRollouts(archivedRollouts(repository, tip), createRedactor(env));
  if (flags.isOn('dry-run')) return dryRun({ repository, rollouts, config, policy, world });
  await removeHandOvers(repository, Object.values(handOvers));
  const taken = await takeLease(team.lease.terms, team.lease.ports, signal);
  if (taken.outcome === 'held') {
    return quiet(world, `Nothing to do: another night is at work (${terminalText(taken.by.worker)}).`);
  }
  const { lease } = taken;
  const { notes } = await archivedNotes(repository, tip);
  let isHandedOn = false;
  try {
    const begun = await beginTeamNight(team, { ...beginningOf(stage, policy), prove: lease.prove }, signal);
    const isWanted = await hasWork(begun.start, policy, rollouts, notes, stage);
    if (!isWanted) {
      await forgetUnfinished(begun, team, stage, policy, lease);
      return quiet(world, 'Nothing to do: every session is read or waits, and the memory is up to date.');
    }
    const start = await startOf({ begun, team, stage, policy, lease, rollouts, shards }, tip);
    await writeHandOver(repository, handOvers.start, startFileOf(start));
    isHandedOn = true;
    world.log.output('claimed', 'true');
    if (start.shards > 1) world.log.output('shards', JSON.stringify(indexesTo(start.shards)));
    const parts = start.shards > 1 ? ` in ${start.shards} parts` : '';
    world.log.result(`Claimed: ${start.threads.length} sessions to read${parts}.`);
    await offerJournal(begun, team, stage);
    return exitCodes.done;
  } finally {
    if (!isHandedOn) await lease.release();
  }
}

interface Claiming {
  readonly begun: Begun;
  readonly team: Team;
  readonly stage: Stage;
  readonly policy: NightPolicy;
  readonly lease: Lease;
  readonly rollouts: Rollouts;
  /** How many machines read at once, if there is enough to read. */
  readonly shards: number;
}

function indexesTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

function beginningOf({ repository, world }: Stage, policy: NightPolicy) {
  const { author, extraction } = policy;
  return { repository, clock: world.clock, author, retrySeconds: extraction.retrySeconds };
}

/** Records the started run in the state ref, unless that is lost: then what is left of it decides first. */
async function startOf(claiming: Claiming, rolloutsTip: string | null): Promise<StartFile> {
  const { begun, team, stage, policy, lease, rollouts, shards } = claiming;
  const { clock, flags, signal } = stage.world;
  const at = clock.now();
  const { found } = await rollouts.list(signal);
  const noted = await openStateOfRef(begun.start.stateText);
  whatToRead({ state: noted }, found, policy.reading, at);
  const text = snapshotOf(noted);
  const slice = sliceAfter(noted);
  const extractorClass = extractorClassOf(stage.config.model.provider);
  const { ready } = outlook(noted, found, policy, extractorClass, at, begun.start.night.batches);
  const threads = ready.slice(0, slice ?? ready.length).map(({ thread }) => thread.id);
  const runId = team.lease.terms.run ?? team.lease.terms.token;
  const tree = treeOf(begun);
  const state =
    tree === null
      ? begun.start.stateOid
      : await recordStarted(
          { ...tree, text },
          { runId, startedAt: at, threads, allowanceTokens: allowanceOf(stage) },
          claiming,
        );
  const model = flags.valueOf('model');
  const { now, since } = policy.reading;
  return {
    runId,
    at,
    lease: { ref: lease.ref, oid: lease.oid(), token: team.lease.terms.token },
    tips: { ...begun.tips, state },
    rollouts: { ref: team.archive.ref, oid: rolloutsTip },
    pullRequest: begun.found && { recorded: factsOf(begun.found.recorded), open: factsOf(begun.found.open) },
    threads,
    shards: whyUnsplit(stage.config) === null ? Math.max(1, Math.min(shards, threads.length)) : 1,
    unfinished: begun.unfinished?.runId ?? null,
    wishes: { now, since, model: model === 'builtin' || model === 'openai' ? model : null },
  };
}

/** null where the books are lost but a proposal stands: no record may hide that from the next stage. */
function treeOf({ settled, start, tips }: Begun): StateTree | null {
  if (settled !== null) return settled;
  if (tips.proposal.oid !== null) return null;
  const { stateText: text, baseline, reviewed, closed } = start;
  return { text, baseline, reviewed, closed, night: emptyNightRecord };
}

async function recordStarted(
  tree: StateTree,
  startedRun: NonNullable<StateTree['night']['startedRun']>,
  { begun, team, stage, policy, lease }: Claiming,
): Promise<string> {
  const expected = begun.start.stateOid;
  const commit = await writeStateCommit(stage.repository, {
    expected,
    tree: { ...tree, night: { ...tree.night, startedRun } },
    at: startedRun.startedAt,
    author: policy.author,
    message: `state: run ${startedRun.runId} started\n`,
  });
  await teamSwap(team.remote, lease.prove)(stateRef, expected, commit);
  await mirrorState(stage.repository, commit);
  return commit;
}

/** What the caps allow at most; the built-in extractor costs nothing. */
function allowanceOf({ config }: Stage): number {
  const { phase1_tokens: phase1, phase2_tokens: phase2 } = config.budget;
  return config.model.provider === 'openai' ? phase1 + phase2 : 0;
}

function factsOf(pull: NonNullable<Begun['found']>['open']) {
  if (pull === null) return null;
  const { number, url, state, labels, headOid } = pull;
  return { number, url, state, labels, headOid };
}

/** Nothing is left to do with what it paid for. */
async function forgetUnfinished(
  { settled, start, unfinished }: Begun,
  team: Team,
  { repository, config, world }: Stage,
  { author, extraction }: NightPolicy,
  lease: Lease,
): Promise<void> {
  if (unfinished === null || settled === null || start.stateOid === null) return;
  const refs = { swap: teamSwap(team.remote, lease.prove) };
  const terms = { author, retrySeconds: extraction.retrySeconds, now: world.clock.now() };
  await mirrorState(
    repository,
    await closeRun(settled, start.stateOid, 'done', { repository, refs, config, ...terms }),
  );
}

/** Only a run of the nightly workflow on the default branch is believed. */
async function offerJournal({ unfinished }: Begun, team: Team, { config, world }: Stage): Promise<void> {
  const id = unfinished?.runId.split('/')[0] ?? '';
  if (id === '' || unfinished === null) return;
  const runs = actionsRunsFor(config, team.remote, world);
  if (runs !== null && (await runs.isNightly(id))) world.log.output('unfinished_run', id);
}
