import { join } from 'node:path';
import type { Learned } from '../phase1/record.ts';
import { prepareScope } from '../phase2/prepare.ts';
import { openRollouts } from '../rollout/source.ts';
import { day } from '../shared/clock.ts';
import { createRedactor } from '../shared/redact.ts';
import { emptyState, openState, snapshotOf } from '../state/snapshot.ts';
import { renderChanges } from '../workspace/changes.ts';
import { answerTo } from './answer.ts';
import { growthMeasure } from './growth.ts';
import { lastNight, policyFor } from './phase2.ts';
import { changeOutputs, fillState, rowScope, rowTime, threadIdOf } from './rows.ts';
import { loadSamples, samplePlace, sampleRollouts } from './samples.ts';
import { writeSessions } from './sessions.ts';
import { pipelineWith } from './stages/pipeline.ts';
import { record } from './stages/recorder.ts';
import type { Measure } from './types.ts';

const sessionBytes = 20_000;
/** Of each agent, so that every size has the same mixture. */
const sessionsEach = 5;
const changed = 10;

/** Those of a night whose work depends on how much there is. */
export const scalingMeasures: readonly Measure[] = [
  growthMeasure({
    name: 'scaling-request',
    what: 'list, read, redact and filter sessions and build their requests',
    of: 'sessions',
    base: 10,
    async prepare({ folder }, size) {
      const short = (await loadSamples()).filter(({ speaksAt }) => speaksAt < sessionBytes / 2);
      const samples = (['codex', 'claude-code'] as const).flatMap((name) =>
        short.filter(({ agent }) => agent === name).slice(0, sessionsEach),
      );
      const sources = await writeSessions(join(folder, `sessions-${size}`), samples, size, sessionBytes);
      const place = await samplePlace();
      const pipeline = pipelineWith(createRedactor({}));
      return async () => {
        const rollouts = openRollouts(sources, place).cleaned({ rollout: pipeline.redact, text: (text) => text });
        for (const { thread } of (await rollouts.list()).found) {
          const rollout = await rollouts.read(thread.id);
          const items = pipeline.filter(rollout);
          pipeline.request(rollout, items, pipeline.tier(items));
        }
      };
    },
  }),
  growthMeasure({
    name: 'scaling-record',
    what: 'claim sessions and record what they taught',
    of: 'sessions',
    base: 50,
    async prepare(_bench, size) {
      const learned = await taught(size);
      return async () => {
        const state = await emptyState();
        record(state, learned);
        state.close();
      };
    },
  }),
  growthMeasure({
    name: 'scaling-snapshot',
    what: 'open and write the state of outputs',
    of: 'outputs',
    base: 50,
    async prepare(_bench, size) {
      const filled = await emptyState();
      await fillState(filled, size);
      const text = snapshotOf(filled);
      filled.close();
      return async () => {
        const state = await openState(text);
        snapshotOf(state);
        state.close();
      };
    },
  }),
  growthMeasure({
    name: 'scaling-selection',
    what: `select outputs, write their files and compare these with the last night's, ${changed} changed`,
    of: 'outputs',
    base: 40,
    async prepare(_bench, size) {
      const state = await emptyState();
      await fillState(state, size);
      const start = lastNight(state, size);
      await changeOutputs(state, changed);
      return () => renderChanges(prepareScope(state, rowScope, start, policyFor(size), rowTime + day).changes);
    },
  }),
];

/** What the samples taught, over and over as sessions of their own. */
export async function taught(count: number): Promise<Learned[]> {
  const pipeline = pipelineWith(createRedactor({}));
  const from = (await sampleRollouts()).flatMap((rollout) => {
    const items = pipeline.filter(rollout);
    const rendering = pipeline.tier(items);
    return pipeline.parse(rollout, rendering, answerTo(pipeline.request(rollout, items, rendering))) ?? [];
  });
  return Array.from({ length: count }, (_, index) => {
    const one = from[index % from.length];
    if (one === undefined) throw new RangeError('The samples teach nothing.');
    const id = threadIdOf(index);
    return {
      ...one,
      thread: { ...one.thread, id },
      evidence: one.evidence.map((row) => ({ ...row, threadId: id })),
    };
  });
}
