import { type ExitCode, MemoryError } from '../../shared/errors.ts';
import { terminalText } from '../../shared/escape.ts';
import { continueLease, findOwnLease, LeaseLostError } from '../lease.ts';
import { actionsRun, openTeam } from '../team-command.ts';
import { fetchTips } from '../team-facts.ts';
import { treeAt } from '../team-pending.ts';
import { quiet } from '../tell.ts';
import type { RunEnd } from '../unfinished.ts';
import { deliver } from './deliver.ts';
import { type Concluding, endRun } from './end-run.ts';
import { HandOverError } from './fields.ts';
import { handOvers, readHandOver } from './folder.ts';
import { parseResultFile, type ResultFile } from './result-file.ts';
import type { Stage } from './stage.ts';
import { parseStartFile, type StartFile } from './start-file.ts';

/** Longer than the job's time-out. */
const proposeSeconds = 1_800;

/**
 * Pushes what the night made and may push, opens or refreshes the pull request, and lets go of the lease whatever
 * happened. A run that left no result is counted.
 */
export async function proposeNight(stage: Stage): Promise<ExitCode> {
  const { repository, config, world } = stage;
  const team = await openTeam(stage.delivery, config, repository, world, proposeSeconds);
  const start = await startIfAny(stage);
  const run = actionsRun(world.env);
  const token = start.file?.lease.token ?? null;
  const own = await findOwnLease({ run, token }, team.lease.ports, world.signal);
  if (own === null) throw new LeaseLostError(null);
  const lease = continueLease(own, team.lease.terms, team.lease.ports);
  try {
    await lease.renew();
    return await concluded({ stage, team, lease, runId: run ?? token ?? '' }, start);
  } finally {
    await lease.release();
  }
}

/** A start that cannot be believed is told after the lease is found: it has to go all the same. */
type StartIfAny = { readonly file: StartFile | null; readonly error: MemoryError | null };

async function startIfAny({ repository }: Stage): Promise<StartIfAny> {
  try {
    const text = await readHandOver(repository, handOvers.start);
    return { file: text === null ? null : parseStartFile(text), error: null };
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return { file: null, error };
  }
}

async function concluded(concluding: Concluding, start: StartIfAny): Promise<ExitCode> {
  const { stage, team } = concluding;
  const { world, repository } = stage;
  const { base = null, branch } = team.config.delivery;
  const tips = await fetchTips(team.remote, { base, branch }, world.signal);
  const tree = tips.state === null ? null : await treeAt(repository, tips.state);
  const end = (how: RunEnd) => endRun(how, tree, tips.state, concluding);
  try {
    const result = await resultOf(concluding);
    switch (result?.outcome) {
      case undefined:
        await end('lost');
        return quiet(
          world,
          'The night left no result: it counts as an attempt, and its journal is taken over by the next.',
        );
      case 'moved':
        await end('done');
        return quiet(world, `Nothing was read or paid: ${terminalText(result.what)} moved after the claim.`);
      case 'stopped':
        await end('kept');
        return quiet(world, 'The night was stopped; what it paid for is taken over by the next.');
      case 'played':
        return await deliver(result, mustHave(start), tips, concluding, end);
    }
  } catch (error) {
    if (error instanceof HandOverError) await end('lost');
    throw error;
  }
}

/** null where there is none. @throws HandOverError for another run's, and for one that cannot be read. */
async function resultOf({ stage, runId }: Concluding): Promise<ResultFile | null> {
  const text = await readHandOver(stage.repository, handOvers.result);
  const result = text === null ? null : parseResultFile(text);
  if (result !== null && result.run !== runId)
    throw new HandOverError(handOvers.result, `it is of run ${result.run}, and this is ${runId}`);
  return result;
}

function mustHave({ file, error }: StartIfAny): StartFile {
  if (file !== null) return file;
  throw error ?? new HandOverError(handOvers.start, 'there is a result, but claim left none');
}
