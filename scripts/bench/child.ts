import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MemoryError } from '../shared/errors.ts';
import type { World } from '../shared/main.ts';

/**
 * Runs one of our commands in a process of its own, as `npm run` would.
 * @param script `nightly.ts`, beside the other commands
 * @returns what it wrote to standard output
 * @throws MemoryError with what it said when it failed; the signal's reason when it was stopped.
 */
export async function runScript(world: World, script: string, args: readonly string[]): Promise<string> {
  const [program = '', ...argv] = scriptCommand(world, script, args);
  try {
    const { stdout } = await promisify(execFile)(program, argv, {
      env: { ...world.env },
      maxBuffer: 64 * 1024 * 1024,
      signal: world.signal,
    });
    return stdout;
  } catch (error) {
    world.signal.throwIfAborted();
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new MemoryError(
      `${script} ${args.join(' ')} failed: ${said.slice(-600) || 'it said nothing'}.`,
      `Run it yourself: npx tsx scripts/${script} ${args.join(' ')}`,
      { cause: error },
    );
  }
}

/** What starts one of our commands: the program first. */
export function scriptCommand({ self }: World, script: string, args: readonly string[]): string[] {
  return [self.program, ...self.args, fileURLToPath(new URL(`../${script}`, import.meta.url)), ...args];
}
