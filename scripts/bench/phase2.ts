import { prepareScope } from '../phase2/prepare.ts';
import type { ConsolidationPolicy, MemoryStart } from '../phase2/run.ts';
import { day } from '../shared/clock.ts';
import type { Files } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { replaceSelection } from '../state/selection.ts';
import { emptyState } from '../state/snapshot.ts';
import { renderChanges } from '../workspace/changes.ts';
import { changeOutputs, fillState, rowScope, rowTime, threadIdOf } from './rows.ts';
import { medianMs, parseSpeed } from './statistics.ts';
import type { Measure } from './types.ts';

const changed = 10;

export const diffMeasure = measureOf('phase2-4096', 4_096, 1_500);
export const smallDiffMeasure = measureOf('phase2-256', 256, 200);

function measureOf(name: string, selected: number, limitMs: number): Measure {
  return {
    name,
    what: `phase 2 inputs and diff, ${selected} selected, ${changed} changed`,
    unit: 'ms',
    limit: { on: 'value', bound: 'at most', than: limitMs },
    async take({ world }) {
      const state = await emptyState();
      await fillState(state, selected);
      const start = lastNight(state, selected);
      await changeOutputs(state, changed);
      let diff = '';
      const value = await medianMs(world, 5, () => {
        const { changes } = prepareScope(state, rowScope, start, policyFor(selected), rowTime + day);
        diff = renderChanges(changes);
      });
      const files = [...start.files.values()].map((text) => JSON.stringify({ text }));
      const modified = diff.split('\n').filter((line) => line.startsWith('- M ')).length;
      return {
        value,
        calibration: await parseSpeed(world, files),
        note: `${(Buffer.byteLength(diff) / 1_000).toFixed(0)} KB of diff`,
        faults: modified === changed + 1 ? [] : [`the diff names ${modified} changed files instead of ${changed + 1}`],
      };
    },
  };
}

/** The scope as a night left it that had selected all outputs: their files, and a block for every tenth of them. */
export function lastNight(state: State, selected: number): MemoryStart {
  replaceSelection(
    state,
    rowScope,
    Array.from({ length: selected }, (_, index) => ({
      threadId: threadIdOf(index),
      extractorClass: 'llm',
      sourceUpdatedAt: rowTime,
      selectedAt: rowTime,
    })),
  );
  const nothing: MemoryStart = { files: new Map(), baseline: new Map() };
  const { ready } = prepareScope(state, rowScope, nothing, policyFor(selected), rowTime + 1);
  const files: Files = new Map([...ready]);
  return { files, baseline: new Map([[rowScope, files]]) };
}

/** Everything may be selected. */
export function policyFor(selected: number): ConsolidationPolicy {
  return {
    selection: { maxRawMemories: selected, maxUnusedDays: 30, maxNewPerNight: 40 },
    audience: 'team',
    concurrency: 4,
    leaseSeconds: 3_600,
    retrySeconds: 3_600,
    cooldownSeconds: 21_600,
    ignoreCooldown: false,
    ignoreBackoff: false,
  };
}
