import { openRepository } from '../git/open.ts';
import { batchJson } from '../model/batch-words.ts';
import { type ExitCode, exitCodes, UsageError } from '../shared/errors.ts';
import { terminalText } from '../shared/escape.ts';
import type { World } from '../shared/main.ts';
import { currentState } from '../state/current.ts';
import { underWay } from './batches.ts';
import { batchServerOf } from './compose.ts';
import { loadConfig, withFlags } from './settings.ts';

/**
 * Tells the model's server to give a batch up. Nothing is written here: the next night finds it ended, uses what was
 * answered, and asks the rest again.
 * @throws UsageError for a batch that is not under way; ModelError.
 */
export async function cancelBatch(world: World, id: string): Promise<ExitCode> {
  const { flags, env, log, signal } = world;
  const repository = await openRepository(flags.valueOf('repo') ?? world.cwd, { env });
  const config = withFlags(await loadConfig(repository), flags);
  const { night } = await currentState(repository);
  const batches = underWay(night?.batches ?? []);
  const batch = batches.find((one) => one.id === id);
  if (batch === undefined) {
    const known = batches.map((one) => terminalText(one.id)).join(', ');
    throw new UsageError(
      `No batch ${terminalText(id).slice(0, 80)} is under way.`,
      known === '' ? 'None is: npm run status shows them.' : `Under way: ${known}.`,
    );
  }
  const seen = await batchServerOf(config, env).cancel(id, signal);
  const status = seen?.status ?? 'ended';
  const words =
    seen === null
      ? `Batch ${terminalText(id)} has ended already or is not known: the next night says which.`
      : `Batch ${terminalText(id)} is ${status}: the next night uses what was answered and asks the rest again.`;
  log.result(flags.isOn('json') ? JSON.stringify({ ...batchJson(batch), status }) : words);
  return exitCodes.done;
}
