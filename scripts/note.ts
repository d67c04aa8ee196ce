import { destinationOf } from './collect/destination.ts';
import { openRepository } from './git/open.ts';
import { loadConfig } from './nightly/settings.ts';
import { noteCommand } from './note/command.ts';
import { noteSpec } from './note/flags.ts';
import { main } from './shared/main.ts';

await main(noteSpec, async (world) => {
  const repository = await openRepository(world.flags.valueOf('repo') ?? world.cwd, { env: world.env });
  const config = await loadConfig(repository);
  const { memory } = await destinationOf(repository, config.rollouts.remote);
  return noteCommand(world, { config, memory });
});
