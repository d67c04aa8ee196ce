import { playCommand } from './nightly/command.ts';
import { nightlySpec } from './nightly/flags.ts';
import { main } from './shared/main.ts';

await main(nightlySpec, (world) => playCommand(world, { one: true, two: true }));
