import { type EpochSeconds, parseIsoTime } from '../shared/clock.ts';

/** A JSON object of somebody else's program: nothing is known about it. */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object; an empty one where it is none. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as a text that says something, or null. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The value as a whole number, or null. */
export function integerOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null;
}

/** The value as JSON; a nesting too deep to be written is named instead. */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch (error) {
    if (error instanceof RangeError) return '[nested too deeply]';
    throw error;
  }
}

const earliest = 1_577_836_800;
const latest = 4_102_444_800;

/**
 * A record's time: ISO 8601, or seconds or milliseconds since 1970 as a number or its digits.
 * @returns null for anything else, and for a time before 2020 or from 2100 on: that clock was wrong.
 */
export function timeOf(value: unknown): EpochSeconds | null {
  const at =
    typeof value === 'string' && !/^\d{9,16}$/.test(value) ? parseIsoTime(value) : seconds(Number(value ?? NaN));
  return at !== null && at >= earliest && at < latest ? at : null;
}

function seconds(number: number): EpochSeconds | null {
  if (!Number.isFinite(number)) return null;
  return Math.floor(number > 100_000_000_000 ? number / 1000 : number);
}
