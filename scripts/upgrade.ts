import { openRepository } from './git/open.ts';
import { signatureOf } from './nightly/compose.ts';
import { loadConfig } from './nightly/settings.ts';
import { main } from './shared/main.ts';
import { upgradeCommand, upgradeSpec } from './upgrade/command.ts';

await main(upgradeSpec, async (world) => {
  const repository = await openRepository(world.flags.valueOf('repo') ?? world.cwd, { env: world.env });
  const config = await loadConfig(repository);
  return upgradeCommand(world, { repository, config, author: signatureOf(config) });
});
