import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleCommands } from '../../scripts/connect/bundle.ts';
import { root } from './nights.ts';
import { type Ending, temporaryFolder } from './repository.ts';

/** Later than any source was changed, so that the programs do not say that they are old. */
export const later = 9_000_000_000_000;

/** The commands as programs, in a folder beside which the packages are found. @returns that folder. */
export async function builtCommands(t: Ending, names: readonly string[], builtAt = later): Promise<string> {
  const home = temporaryFolder(t);
  const folder = join(home, '.build');
  const entries = names.map((name) => `scripts/${name}.ts`);
  const programs = await bundleCommands(root, entries, folder, builtAt);
  mkdirSync(folder);
  for (const [path, text] of programs) writeFileSync(join(folder, path), text, { mode: 0o755 });
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'));
  return folder;
}
