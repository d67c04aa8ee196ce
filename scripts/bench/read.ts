import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runScript } from './child.ts';
import { readOnce } from './read-once.ts';
import { loadSamples } from './samples.ts';
import { medianMs, parseSpeed, rate } from './statistics.ts';
import { transcriptLines, writeTranscript } from './transcript.ts';
import { type Measure, megabyte } from './types.ts';

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
  async take({ world, folder }) {
    const { path } = await writeSession(folder, 200 * megabyte);
    const said: Record<string, unknown> = JSON.parse(await runScript(world, 'bench/reader.ts', [path]));
    const items = Number(said.items);
    const value = Number(said.peakBytes) / megabyte;
    return { value, calibration: null, note: `${items} items`, faults: faultsOf(items) };
  },
};

async function writeSession(folder: string, bytes: number): Promise<{ path: string; bytes: number }> {
  const path = join(folder, `${session}.jsonl`);
  const lines = transcriptLines(await loadSamples(), { bytes, skippable, seed: 85, session });
  return { path, bytes: await writeTranscript(path, lines) };
}

function faultsOf(items: number): string[] {
  return items >= 1_000 ? [] : [`only ${items} items were read`];
}
