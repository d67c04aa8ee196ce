import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleCommands } from '../connect/bundle.ts';
import { started } from './started.ts';
import { median } from './statistics.ts';
import type { Measure } from './types.ts';

const rounds = 3;
const root = fileURLToPath(new URL('../..', import.meta.url));

export const builtMeasure: Measure = {
  name: 'built',
  what: 'what the slowest of our commands takes to start, as `npm run build` makes them, above `node -e 0`; each by the middle of its starts',
  unit: 'ms',
  limit: { on: 'value', bound: 'at most', than: 300 },
  async take({ world, folder }) {
    const names = await writeCommands(folder);
    const taken = new Map<string, number[]>();
    const faults = new Set<string>();
    const time = async (name: string, args: readonly string[], says: string): Promise<void> => {
      const { ms, stdout, code } = await started(world, args);
      if (code !== 0 || !stdout.includes(says)) faults.add(`${name} did not start`);
      taken.set(name, [...(taken.get(name) ?? []), ms]);
    };
    for (let round = 0; round < rounds; round += 1) {
      await time('node', ['-e', '0'], '');
      for (const name of names) await time(name, [join(folder, '.build', `${name}.mjs`), '--help'], 'usage: ');
    }
    const middle = (name: string): number => median(taken.get(name) ?? []);
    const [slowest = ''] = [...names].sort((a, b) => middle(b) - middle(a));
    return {
      value: middle(slowest) - middle('node'),
      calibration: null,
      note: `${slowest}, of ${names.length}: ${middle(slowest).toFixed(0)} ms, node alone ${middle('node').toFixed(0)} ms`,
      faults: [...faults],
    };
  },
};

/** All commands, in `.build/` of the folder, beside the packages of this repository. */
async function writeCommands(folder: string): Promise<string[]> {
  const sources = (await readdir(join(root, 'scripts'))).filter((name) => name.endsWith('.ts')).sort();
  const home = join(folder, '.build');
  const entries = sources.map((name) => `scripts/${name}`);
  const programs = await bundleCommands(root, entries, home, Number.MAX_SAFE_INTEGER);
  await mkdir(home);
  for (const [path, text] of programs) await writeFile(join(home, path), text);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
  return sources.map((name) => name.replace(/\.ts$/, ''));
}
