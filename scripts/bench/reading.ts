import { MemoryError } from '../shared/errors.ts';
import { jsonFields } from '../shared/json.ts';
import type { Point, Reading } from './types.ts';

/** A reading as `bench --once` prints it. */
export function readingText(reading: Reading): string {
  return JSON.stringify(reading);
}

/** @throws MemoryError for anything else. */
export function parseReading(text: string): Reading {
  const { value: number, calibration, note, faults, points } = jsonFields(text);
  const isRate = calibration === null || (typeof calibration === 'number' && calibration > 0);
  const areFaults = Array.isArray(faults) && faults.every((fault) => typeof fault === 'string');
  if (typeof number === 'number' && isRate && typeof note === 'string' && areFaults)
    return { value: number, calibration, note, faults, ...(isPoints(points) ? { points } : {}) };
  throw new MemoryError(
    `A measuring process answered with no reading: ${text.slice(0, 200).trim() || 'nothing'}.`,
    'Run it by itself to see why: npm run bench -- --once --only <measure>',
  );
}

export function isPoints(value: unknown): value is readonly Point[] {
  return Array.isArray(value) && value.every((one) => typeof one?.size === 'number' && typeof one?.ms === 'number');
}
