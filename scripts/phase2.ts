import { playCommand } from './nightly/command.ts';
import { phase2Spec } from './nightly/flags.ts';
import { main } from './shared/main.ts';

await main(phase2Spec, (world) => playCommand(world, { one: false, two: true }));
