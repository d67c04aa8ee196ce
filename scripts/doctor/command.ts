import { join } from 'node:path';
import { withLock } from '../git/lock.ts';
import { openRepository } from '../git/open.ts';
import { openRemote } from '../git/remote.ts';
import { signatureOf } from '../nightly/compose.ts';
import { loadConfig } from '../nightly/settings.ts';
import { leaseFor, remoteName } from '../nightly/team-command.ts';
import { type ExitCode, exitCodes } from '../shared/errors.ts';
import { jsonText } from '../shared/escape.ts';
import type { CommandSpec } from '../shared/flags.ts';
import type { World } from '../shared/main.ts';
import { adopt } from './adopt.ts';
import { examine } from './examine.ts';
import { adoptedText, doctorJson, doctorText } from './report.ts';

export const doctorSpec: CommandSpec = {
  name: 'doctor',
  purpose: 'What is wrong with the set-up, why it matters, and the remedy; 1 where something does not work.',
  flags: {
    repo: { kind: 'value', value: '<dir>', help: 'the repository that holds the memory (default: this one)' },
    offline: { kind: 'switch', help: 'ask no server: neither the model’s nor the remote' },
    adopt: {
      kind: 'value',
      oneOf: ['remote', 'local'],
      help: 'where this clone’s state and the remote’s did not grow from each other: go on with one of them',
    },
    json: { kind: 'switch', help: 'one JSON object on standard output' },
  },
  positionals: [],
  examples: ['npm run doctor', 'npm run doctor -- --offline', 'npm run doctor -- --adopt remote'],
};

/** @param driver the merge driver of this checkout, as Git's configuration holds it. */
export async function doctorCommand(world: World, driver: string): Promise<ExitCode> {
  const { flags, log } = world;
  const side = flags.valueOf('adopt');
  if (side === 'remote' || side === 'local') return adoptCommand(side, world);
  const offline = flags.isOn('offline');
  const findings = await examine({ repo: flags.valueOf('repo') ?? world.cwd, offline, driver }, world);
  log.result(flags.isOn('json') ? doctorJson(findings) : doctorText(findings, offline));
  return findings.some(({ severity }) => severity === 'error') ? exitCodes.failed : exitCodes.done;
}

async function adoptCommand(side: 'remote' | 'local', world: World): Promise<ExitCode> {
  const { flags, env, clock, signal, log } = world;
  const repository = await openRepository(flags.valueOf('repo') ?? world.cwd, { env });
  const config = await loadConfig(repository);
  const owner = { ...world.self, at: clock.now(), note: 'doctor --adopt' };
  const adopted = await withLock(join(repository.commonDir, 'memory', 'night.lock'), owner, async () => {
    const remote = await openRemote(repository, { name: remoteName, token: env[config.delivery.token_env], env });
    const lease = leaseFor(config, repository, remote, world);
    return adopt(side, { repository, remote, lease, author: signatureOf(config), now: clock.now() }, signal);
  });
  log.result(flags.isOn('json') ? jsonText(adopted) : adoptedText(side, adopted));
  return exitCodes.done;
}
