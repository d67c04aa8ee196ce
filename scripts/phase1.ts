import { playCommand } from './nightly/command.ts';
import { phase1Spec } from './nightly/flags.ts';
import { main } from './shared/main.ts';

await main(phase1Spec, (world) => playCommand(world, { one: true, two: false }));
