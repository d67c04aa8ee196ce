import { builtMeasure } from './built.ts';
import { largeMeasure } from './large.ts';
import { builtinMeasure, startMeasure } from './night.ts';
import { redactionMeasure, tiersMeasure } from './parts.ts';
import { phase1Measure } from './phase1.ts';
import { diffMeasure, smallDiffMeasure } from './phase2.ts';
import { memoryMeasure, readMeasure } from './read.ts';
import { recallMeasure } from './recall.ts';
import { scalingMeasures } from './scaling.ts';
import { snapshotMeasure } from './snapshot.ts';
import type { Measure } from './types.ts';

/** Those with a limit first, in the order of a night. */
export const measures: readonly Measure[] = [
  readMeasure,
  memoryMeasure,
  phase1Measure,
  snapshotMeasure,
  diffMeasure,
  smallDiffMeasure,
  recallMeasure,
  builtMeasure,
  largeMeasure,
  builtinMeasure,
  ...scalingMeasures,
  redactionMeasure,
  tiersMeasure,
  startMeasure,
];
