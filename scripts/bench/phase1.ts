import { join } from 'node:path';
import type { ExtractionReport } from '../phase1/run.ts';
import { concurrency, playPhase1 } from './play-phase1.ts';
import { loadSamples } from './samples.ts';
import { type ServerFigures, startModelServer } from './server.ts';
import { sessionText, writeSessions } from './sessions.ts';
import { parseSpeed } from './statistics.ts';
import type { Measure } from './types.ts';

const rollouts = 1_000;
const rolloutBytes = 71_000;

export const phase1Measure: Measure = {
  name: 'phase1',
  what: `processor time of phase 1 a rollout of ${rolloutBytes / 1000} KB, ${rollouts} of them, a server that answers at once`,
  unit: 'ms',
  limit: { on: 'value', bound: 'at most', than: 7 },
  async take({ world, folder }) {
    const samples = (await loadSamples()).filter(({ speaksAt }) => speaksAt < rolloutBytes / 2);
    const calibration = await parseSpeed(
      world,
      samples.flatMap((sample) => sessionText(sample, 1, rolloutBytes).trimEnd().split('\n')),
    );
    const sources = await writeSessions(join(folder, 'sessions'), samples, rollouts, rolloutBytes);
    const server = await startModelServer(world, concurrency);
    try {
      await playPhase1(sources, server.baseUrl, join(folder, 'warm-up'), world.signal);
      await server.figures();
      const before = world.cpuTime();
      const { report } = await playPhase1(sources, server.baseUrl, join(folder, 'journal'), world.signal);
      const ms = world.cpuTime() - before;
      const figures = await server.figures();
      const note = `${figures.mostOpen} requests at once, ${(figures.requests / rollouts).toFixed(2)} a rollout`;
      return { value: ms / rollouts, calibration, note, faults: faultsOf(report, figures) };
    } finally {
      server.stop();
    }
  },
};

function faultsOf({ extracted, unverified }: ExtractionReport, { mostOpen }: ServerFigures): string[] {
  return [
    ...(extracted.length === rollouts ? [] : [`${rollouts - extracted.length} rollouts gave no memory`]),
    ...(unverified === 0 ? [] : [`${unverified} bullets could not be verified`]),
    ...(mostOpen === concurrency ? [] : [`${mostOpen} requests were open at once where ${concurrency} are configured`]),
  ];
}
