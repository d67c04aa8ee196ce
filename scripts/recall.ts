import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { recallCommand } from './recall/command.ts';
import { recallSpec } from './recall/flags.ts';
import { main } from './shared/main.ts';

await main(recallSpec, (world) => {
  const { self, env, log } = world;
  return recallCommand(world, fileURLToPath(new URL('..', import.meta.url)), (memory) => {
    const script = fileURLToPath(new URL('recall/hook.ts', import.meta.url));
    const args = [...self.args, script, '--refresh', '--memory', memory];
    const child = spawn(self.program, args, { env, detached: true, stdio: 'ignore', windowsHide: true });
    child.on('error', (error) => log.warn(`The memory is not refreshed: ${error.message}`));
    child.unref();
  });
});
