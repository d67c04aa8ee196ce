import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleCommands } from './connect/bundle.ts';
import { exitCodes, MemoryError, messageOf } from './shared/errors.ts';
import type { CommandSpec } from './shared/flags.ts';
import { main } from './shared/main.ts';

const spec: CommandSpec = {
  name: 'build',
  purpose: 'Makes programs of the commands that start sooner: ./.build/status.mjs in place of npm run status.',
  flags: { json: { kind: 'switch', help: 'one JSON object on standard output' } },
  positionals: [],
  examples: ['npm run build', './.build/status.mjs --json'],
};

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, '.build');

await main(spec, async ({ flags, log, clock, self }) => {
  const names = (await readdir(join(root, 'scripts'))).filter((name) => name.endsWith('.ts')).sort();
  const entries = names.map((name) => `scripts/${name}`);
  const programs = await bundleCommands(root, entries, folder, clock.now() * 1_000);
  await replaceFolder(programs, self.token);
  const commands = names.map((name) => name.replace(/\.ts$/, '.mjs'));
  const bytes = [...programs.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  log.result(
    flags.isOn('json')
      ? JSON.stringify({ folder, commands, bytes })
      : `${commands.length} commands in .build/, ${(bytes / 1_000_000).toFixed(1)} MB: ./.build/nightly.mjs, ./.build/status.mjs …\nBuild again after a pull; until then they say that they are old.`,
  );
  return exitCodes.done;
});

/** Whole or not at all: a command that runs meanwhile may still load a part of the old ones. */
async function replaceFolder(programs: ReadonlyMap<string, string>, token: string): Promise<void> {
  const fresh = `${folder}.${token}`;
  try {
    await mkdir(fresh);
    for (const [path, text] of programs) await writeFile(join(fresh, path), text, { mode: 0o755 });
    await rm(folder, { recursive: true, force: true });
    await rename(fresh, folder);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    throw new MemoryError(`.build/ cannot be written: ${messageOf(error)}.`, 'Correct the folder’s rights.', {
      cause: error,
    });
  }
}
