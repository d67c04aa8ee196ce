import { join } from 'node:path';
import { createRepository } from '../git/create.ts';
import { stopwatch } from '../shared/clock.ts';
import { runScript } from './child.ts';
import { loadSamples } from './samples.ts';
import { writeSessions } from './sessions.ts';
import { parseSpeed } from './statistics.ts';
import type { Measure } from './types.ts';

const rollouts = 256;

export const builtinMeasure: Measure = {
  name: 'builtin',
  what: `a whole night without a model over ${rollouts} sample sessions, start of the process included`,
  unit: 'rollouts/min',
  limit: { on: 'value', bound: 'at least', than: 1_000 },
  async take({ world, folder }) {
    const samples = await loadSamples();
    const calibration = await parseSpeed(
      world,
      samples.flatMap(({ lines }) => lines),
    );
    const sources = await writeSessions(join(folder, 'sessions'), samples, rollouts);
    const repository = join(folder, 'repository');
    await createRepository(repository, { branch: 'main', env: world.env });
    const named = sources.flatMap(({ agent, path }) => ['--source', `${agent}:${path}`]);
    const args = ['--repo', repository, '--now', '--since', 'all', '--model', 'builtin', ...named, '--json'];
    const elapsed = stopwatch();
    const report = await runScript(world, 'nightly.ts', args);
    const ms = elapsed();
    const read = rolloutsRead(report);
    return {
      value: (rollouts * 60_000) / ms,
      calibration,
      note: `${(ms / 1000).toFixed(1)} s`,
      faults: read === rollouts ? [] : [`${read} of ${rollouts} sessions were read`],
    };
  },
};

export const startMeasure: Measure = {
  name: 'start',
  what: 'npm start: a night over the bundled samples',
  unit: 'ms',
  limit: null,
  async take({ world, folder }) {
    const samples = await loadSamples();
    const calibration = await parseSpeed(
      world,
      samples.flatMap(({ lines }) => lines),
    );
    const elapsed = stopwatch();
    await runScript(world, 'start.ts', ['--repo', join(folder, 'repository'), '--json']);
    return { value: elapsed(), calibration, note: '', faults: [] };
  },
};

/** Those of which the night recorded what they taught, or that they taught nothing. */
function rolloutsRead(report: string): number {
  const { sessions }: { sessions?: { extracted?: unknown; nothing?: unknown } } = JSON.parse(report);
  return [sessions?.extracted, sessions?.nothing].reduce<number>(
    (count, ids) => count + (Array.isArray(ids) ? ids.length : 0),
    0,
  );
}
