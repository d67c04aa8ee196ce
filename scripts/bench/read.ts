import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openRollouts } from '../rollout/source.ts';
import { loadSamples, samplePlace } from './samples.ts';
import { medianMs, parseSpeed, rate } from './statistics.ts';
import { transcriptLines, writeTranscript } from './transcript.ts';
import { type Bench, type Measure, megabyte, type Reading } from './types.ts';

const session = '00000000-0000-4000-8000-000000000085';
const skippable = 0.85;

export const readMeasure: Measure = {
  name: 'read',
  what: 'a Claude Code rollout of 40 MB, 85 % of it skippable',
  unit: 'MB/s',
  limit: { on: 'ratio', bound: 'at least', than: 0.25 },
  async take({ world, folder }) {
    const { path, bytes } = await writeSession(folder, 40 * megabyte);
    const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
    const calibration = await parseSpeed(world, lines);
    let items = 0;
    const ms = await medianMs(world, 5, async () => {
      items = await readOnce(path);
    });
    return { value: rate(bytes, ms), calibration, note: `${items} items`, faults: faultsOf(items) };
  },
};

export const memoryMeasure: Measure = {
  name: 'memory',
  what: 'peak memory of a process that reads a rollout of 200 MB',
  unit: 'MB',
  limit: { on: 'value', bound: 'at most', than: 250 },
  async take(bench) {
    const { path } = await writeSession(bench.folder, 200 * megabyte);
    const before = bench.world.peakMemory() / megabyte;
    const items = await readOnce(path);
    return reading(bench, items, before);
  },
};

function reading({ world }: Bench, items: number, before: number): Reading {
  const note = `${items} items; ${before.toFixed(0)} MB before it was read`;
  return { value: world.peakMemory() / megabyte, calibration: null, note, faults: faultsOf(items) };
}

async function writeSession(folder: string, bytes: number): Promise<{ path: string; bytes: number }> {
  const path = join(folder, `${session}.jsonl`);
  const lines = transcriptLines(await loadSamples(), { bytes, skippable, seed: 85, session });
  return { path, bytes: await writeTranscript(path, lines) };
}

/** As a night reads it: listed, then read. @returns its items */
async function readOnce(path: string): Promise<number> {
  const rollouts = openRollouts([{ agent: 'claude-code', path }], await samplePlace());
  const { found } = await rollouts.list();
  return found[0] === undefined ? 0 : (await rollouts.read(found[0].thread.id)).items.length;
}

function faultsOf(items: number): string[] {
  return items < 1_000 ? [`only ${items} items were read`] : [];
}
