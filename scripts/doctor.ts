import { fileURLToPath } from 'node:url';
import { doctorCommand, doctorSpec } from './doctor/command.ts';
import { driverCommand } from './merge-driver/setting.ts';
import { main } from './shared/main.ts';

const driver = driverCommand({
  script: fileURLToPath(new URL('./merge-driver.ts', import.meta.url)),
  loader: import.meta.resolve('tsx'),
});

await main(doctorSpec, (world) => doctorCommand(world, driver));
