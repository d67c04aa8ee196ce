import { emptyState, openState, snapshotOf } from '../state/snapshot.ts';
import { fillState } from './rows.ts';
import { medianMs, parseSpeed } from './statistics.ts';
import { type Measure, megabyte } from './types.ts';

const outputs = 5_000;

export const snapshotMeasure: Measure = {
  name: 'snapshot',
  what: `opening and writing the state of ${outputs} outputs of 4 KB`,
  unit: 'ms',
  limit: { on: 'value', bound: 'at most', than: 1_000 },
  async take({ world }) {
    const filled = await emptyState();
    await fillState(filled, outputs);
    const text = snapshotOf(filled);
    filled.close();
    const rows = text
      .split('\n')
      .filter((line) => line.startsWith('['))
      .map((line) => line.replace(/,$/, ''));
    const calibration = await parseSpeed(world, rows);
    let isSame = true;
    const value = await medianMs(world, 5, async () => {
      const state = await openState(text);
      isSame &&= snapshotOf(state) === text;
      state.close();
    });
    const note = `${(Buffer.byteLength(text) / megabyte).toFixed(1)} MB, ${rows.length} rows`;
    return { value, calibration, note, faults: isSame ? [] : ['what was written is not what was opened'] };
  },
};
