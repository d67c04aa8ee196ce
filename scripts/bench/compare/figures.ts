import { MemoryError } from '../../shared/errors.ts';
import { jsonFields } from '../../shared/json.ts';

/** What one program took for the same rollouts. */
export interface Figures {
  /** Rollouts that it asked the model about. */
  readonly rollouts: number;
  /** Processor time of phase 1, without the start of the program: ms. */
  readonly phase1CpuMs: number;
  /** Processor time of the whole process until phase 1 was over: ms. */
  readonly wholeCpuMs: number;
  /** From the last stage-1 output to the first request of consolidation: ms. */
  readonly preparationMs: number;
  /** Peak resident memory: bytes. */
  readonly peakBytes: number;
}

/** @throws MemoryError for anything but figures as JSON. */
export function parseFigures(text: string): Figures {
  const fields = jsonFields(text);
  const numberOf = (name: keyof Figures): number => {
    const value = fields[name];
    if (typeof value === 'number' && value >= 0) return value;
    throw new MemoryError(
      `A measuring process answered with no figures: ${text.slice(0, 200).trim() || 'nothing'}.`,
      'Run the comparison again.',
    );
  };
  return {
    rollouts: numberOf('rollouts'),
    phase1CpuMs: numberOf('phase1CpuMs'),
    wholeCpuMs: numberOf('wholeCpuMs'),
    preparationMs: numberOf('preparationMs'),
    peakBytes: numberOf('peakBytes'),
  };
}
