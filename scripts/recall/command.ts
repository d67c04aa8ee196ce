import { type ExitCode, exitCodes, MemoryError } from '../shared/errors.ts';
import { jsonText, terminalText } from '../shared/escape.ts';
import type { World } from '../shared/main.ts';
import { explain, explanationText } from './explain.ts';
import { refreshCopy } from './refresh.ts';
import { recallFor } from './session.ts';
import type { Machine } from './source.ts';

/** @param memory what is read where `--memory` names nothing. */
export async function recallCommand(
  world: World,
  memory: string,
  startRefresh: (memory: string) => void,
): Promise<ExitCode> {
  const { flags, env, home, cwd, clock, log, self } = world;
  const machine: Machine = { env, home, cwd };
  const asked = { memory: flags.valueOf('memory') ?? memory, folder: flags.valueOf('cwd') ?? cwd };
  if (flags.isOn('refresh')) {
    const refreshed = await refreshCopy(asked.memory, { machine, clock, mark: self.token });
    if (refreshed.outcome === 'failed')
      throw new MemoryError(
        'The memory could not be fetched.',
        `${refreshed.failure} The copy that is here, if any, stays.`,
      );
    log.info(`memory: ${refreshed.outcome}`);
  }
  const ports = {
    machine,
    now: clock.now(),
    mark: self.token,
    startRefresh: async () => startRefresh(asked.memory),
  };
  const session = await recallFor(asked, ports);
  const explanation = explain(session);
  if (session.notice !== '') log.warn(session.notice);
  if (flags.isOn('explain')) log.info(explanationText(explanation));
  if (flags.isOn('json')) log.result(jsonText({ text: session.text, ...explanation }));
  else if (session.text !== '') log.result(session.text.split('\n').map(terminalText).join('\n'));
  else log.info('The memory holds nothing for a session here.');
  return exitCodes.done;
}
