import { inputLimits } from '../rollout/budget.ts';
import { filterRollout } from '../rollout/filter.ts';
import { renderItems } from '../rollout/tiers.ts';
import { createRedactor } from '../shared/redact.ts';
import { sampleRollouts, sampleTexts } from './samples.ts';
import { medianMs, parseSpeed, rate } from './statistics.ts';
import type { Measure } from './types.ts';

export const redactionMeasure: Measure = {
  name: 'redaction',
  what: "removing secrets from the samples' texts",
  unit: 'MB/s',
  limit: null,
  async take({ world }) {
    const texts = await sampleTexts();
    const { redact } = createRedactor({});
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const ms = await medianMs(world, 9, () => texts.map((text) => redact(text)));
    const calibration = await parseSpeed(
      world,
      texts.map((text) => JSON.stringify(text)),
    );
    return { value: rate(bytes, ms), calibration, note: '', faults: [] };
  },
};

export const tiersMeasure: Measure = {
  name: 'tiers',
  what: 'filtering a sample session and fitting it into a request',
  unit: 'ms',
  limit: null,
  async take({ world }) {
    const rollouts = await sampleRollouts();
    const ms = await medianMs(world, 9, () => {
      for (const rollout of rollouts) renderItems(filterRollout(rollout).items, inputLimits.unknownWindowTokens);
    });
    const calibration = await parseSpeed(
      world,
      (await sampleTexts()).map((text) => JSON.stringify(text)),
    );
    return { value: ms / rollouts.length, calibration, note: `${rollouts.length} sessions`, faults: [] };
  },
};
