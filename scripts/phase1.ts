import { cancelBatch } from './nightly/cancel-batch.ts';
import { playCommand } from './nightly/command.ts';
import { phase1Spec } from './nightly/flags.ts';
import { main } from './shared/main.ts';

await main(phase1Spec, (world) => {
  const batch = world.flags.valueOf('cancel-batch');
  return batch === undefined ? playCommand(world, { one: true, two: false }) : cancelBatch(world, batch);
});
