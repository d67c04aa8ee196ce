import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { bundleCommands, nodeOptions } from '../connect/bundle.ts';
import { MemoryError } from '../shared/errors.ts';
import type { World } from '../shared/main.ts';

/**
 * Runs one of our commands in a process of its own, as `npm run` would.
 * @param script `nightly.ts`, beside the other commands
 * @returns what it wrote to standard output
 * @throws MemoryError with what it said when it failed; the signal's reason when it was stopped.
 */
export function runScript(world: World, script: string, args: readonly string[]): Promise<string> {
  return outputOf(world, scriptCommand(world, script, args), script);
}

/**
 * Runs a script as the program that `npm run build` would make of it, without a loader, as its first line says.
 * @param folder an empty one, or one that is not there yet, for the program.
 */
export async function runBuilt(world: World, folder: string, script: string, args: readonly string[]): Promise<string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const programs = await bundleCommands(root, [`scripts/${script}`], folder, world.clock.now() * 1_000);
  await mkdir(folder, { recursive: true });
  for (const [path, text] of programs) await writeFile(join(folder, path), text);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const program = join(folder, basename(script).replace(/\.ts$/, '.mjs'));
  return outputOf(world, [world.self.program, ...nodeOptions, program, ...args], script);
}

async function outputOf(world: World, command: readonly string[], script: string): Promise<string> {
  const [program = '', ...args] = command;
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      env: { ...world.env },
      maxBuffer: 64 * 1024 * 1024,
      signal: world.signal,
    });
    return stdout;
  } catch (error) {
    world.signal.throwIfAborted();
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new MemoryError(
      `${script} failed: ${said.slice(-600) || 'it said nothing'}.`,
      `Run it yourself: ${command.join(' ')}`,
      { cause: error },
    );
  }
}

/** What starts one of our commands: the program first. */
export function scriptCommand({ self }: World, script: string, args: readonly string[]): string[] {
  return [self.program, ...self.args, fileURLToPath(new URL(`../${script}`, import.meta.url)), ...args];
}
