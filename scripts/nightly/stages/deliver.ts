import { readBundle } from '../../git/bundle.ts';
import { RefMovedError } from '../../git/errors.ts';
import { openJournal } from '../../model/journal.ts';
import { type ExitCode, exitCodes, messageOf } from '../../shared/errors.ts';
import { markdownText } from '../../shared/escape.ts';
import type { Oid } from '../../shared/files.ts';
import { openStateOfRef } from '../../state/current.ts';
import type { NightRecord } from '../../state/night-record.ts';
import { findPullRequest, mirrorState } from '../begin.ts';
import { type Commits, commitNight, type Made } from '../commits.ts';
import { signatureOf } from '../compose.ts';
import { askedSince, dropForgotten } from '../forgotten-sessions.ts';
import { dropExpired } from '../retention.ts';
import { nightJournal } from '../settings.ts';
import type { Start } from '../start.ts';
import { reviewOf } from '../team.ts';
import { type FoundFacts, fetchTips, type RemoteTips } from '../team-facts.ts';
import { treeAt } from '../team-pending.ts';
import { teamRefs } from '../team-refs.ts';
import { loadTeamStart } from '../team-start.ts';
import { quiet } from '../tell.ts';
import type { RunEnd } from '../unfinished.ts';
import { acceptResult } from './accept.ts';
import { movedTip } from './claimed.ts';
import { type Concluding, endRun } from './end-run.ts';
import { HandOverError } from './fields.ts';
import { handOverPath, handOvers } from './folder.ts';
import { bundleRefs } from './remember.ts';
import type { ResultFile } from './result-file.ts';
import type { Stage } from './stage.ts';
import type { StartFile } from './start-file.ts';

export type Played = Extract<ResultFile, { outcome: 'played' }>;

/** Pushes what a result made, if the remote and the host still say what the night started from. */
export async function deliver(
  result: Played,
  file: StartFile,
  tips: RemoteTips,
  concluding: Concluding,
  end: (how: RunEnd) => Promise<void>,
): Promise<ExitCode> {
  const { stage, team } = concluding;
  const { repository, world } = stage;
  const before = await startNow(file, tips, concluding);
  if ('moved' in before) {
    await end('kept');
    return quiet(
      world,
      `Nothing was pushed: ${before.moved} moved since. What was paid for is taken over by the next night.`,
    );
  }
  const { start } = before;
  const made = await accepted(result, start, stage);
  const commits = await pushed(made, before, result, concluding);
  if (commits === null) {
    return quiet(
      world,
      'Nothing was pushed: the branch moved at that moment. What was paid for is taken over by the next night.',
    );
  }
  if (commits.state === start.stateOid) await end('done');
  else await mirrorState(repository, commits.state);
  openJournal(nightJournal(repository), (text) => text).clear([]);
  const { threads, notSince } = result.expired;
  const expired = { threads: new Set(threads), notSince: Math.min(notSince, retentionStart(stage)) };
  const last = { clock: world.clock, warn: world.log.warn, signal: world.signal };
  await dropExpired(expired, team.archive, last);
  await dropForgotten(start.state, team.archive, last);
  return say(commits, start, concluding);
}

/** Nothing younger than the retention goes, whatever a result says. */
function retentionStart({ config, world }: Stage): number {
  return world.clock.now() - config.rollouts.retention_days * 86_400;
}

interface Before {
  readonly start: Start;
  readonly tips: RemoteTips;
}

/** What the night started from, if the remote and the host still say so. */
async function startNow(
  file: StartFile,
  tips: RemoteTips,
  { stage, team, lease }: Concluding,
): Promise<Before | { readonly moved: string }> {
  const moved = movedTip(file.tips, tips);
  if (moved !== null) return { moved };
  let found: FoundFacts | null = null;
  const begun = await loadTeamStart(tips, stage.delivery, {
    repository: stage.repository,
    remote: team.remote,
    prove: lease.prove,
    findPullRequest: async (night: NightRecord, tips: readonly Oid[]) => {
      found = await findPullRequest(night, team, team.config.delivery.branch, tips);
      return found;
    },
  });
  if (factsText(found) !== factsText(file.pullRequest)) return { moved: 'the pull request' };
  const asked = await askedSince(team.archive, file.rollouts.oid, stage.world.signal);
  if (asked !== null) return { moved: 'what is to be forgotten' };
  const again = movedTip(tips, begun.tips);
  if (again !== null) return { moved: again };
  return { start: { ...begun.start, night: { ...begun.start.night, startedRun: null } }, tips: begun.tips };
}

function factsText(found: FoundFacts | null): string {
  const of = (pull: FoundFacts['open']) => pull && [pull.number, pull.state, [...pull.labels].sort()];
  return JSON.stringify(found && [of(found.recorded), of(found.open)]);
}

async function accepted(result: Played, start: Start, { repository, world, config }: Stage): Promise<Made> {
  const { tip, state } = result;
  const isEmpty = tip === null && state === null;
  const heads = isEmpty
    ? new Map<string, Oid>()
    : await readBundle(repository, world.env, handOverPath(repository, handOvers.bundle)).catch((error: unknown) => {
        throw new HandOverError(handOvers.bundle, messageOf(error).replace(/\.$/, ''));
      });
  if ((heads.get(bundleRefs.tip) ?? null) !== tip || (heads.get(bundleRefs.state) ?? null) !== state)
    throw new HandOverError(handOvers.bundle, 'its heads are not those of night.json');
  return acceptResult(repository, start, result, signatureOf(config));
}

/** @returns null where somebody moved a ref meanwhile: the next night goes on from the state before. */
async function pushed(
  made: Made,
  { start, tips }: Before,
  result: Played,
  concluding: Concluding,
): Promise<Commits | null> {
  const { stage, team, lease } = concluding;
  const { repository } = stage;
  const state = await openStateOfRef(made.stateText);
  const refs = teamRefs({
    remote: team.remote,
    prove: lease.prove,
    propose: ({ night }, _made, tip) =>
      reviewOf({ state, night }, { made, tip, told: result.told }, tips, repository, team),
  });
  try {
    return await commitNight(repository, refs, start, made);
  } catch (error) {
    if (!(error instanceof RefMovedError)) throw error;
    await takeBack(start, concluding);
    return null;
  } finally {
    state.close();
  }
}

/** The state may have moved ahead of a branch that then did not: the one before it comes back, on top. */
async function takeBack({ stateOid }: Start, concluding: Concluding): Promise<void> {
  const { repository, config, world } = concluding.stage;
  const { base = null, branch } = config.delivery;
  const now = await fetchTips(concluding.team.remote, { base, branch }, world.signal);
  if (stateOid === null || now.state === null) return;
  const isOurs = (await repository.readCommit(now.state)).parents[0] === stateOid || now.state === stateOid;
  if (isOurs) await endRun('kept', await treeAt(repository, stateOid), now.state, concluding);
}

function say(commits: Commits, start: Start, { stage, team }: Concluding): ExitCode {
  const { log, flags } = stage.world;
  const tip = commits.inputs === null ? null : commits.tip;
  const what =
    tip === null
      ? 'Done: the books are up to date, the memory did not change.'
      : `Done: ${start.branch.replace('refs/heads/', '')} is at ${tip.slice(0, 12)}${team.forge === null ? '' : ', and proposed'}.`;
  log.summary(markdownText(what));
  log.result(flags.isOn('json') ? JSON.stringify({ outcome: 'done', branch: start.branch, commits }) : what);
  return exitCodes.done;
}
