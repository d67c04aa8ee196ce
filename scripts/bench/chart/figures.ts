import { UsageError } from '../../shared/errors.ts';
import { parsedJson } from '../../shared/json.ts';
import type { ComparedRow } from '../compare/comparison.ts';
import type { Point } from '../types.ts';

/** What of the bench's JSON is drawn. */
export interface Drawn {
  /** `2026-11-30` */
  readonly day: string;
  readonly cores: number;
  readonly comparison: {
    readonly other: string;
    readonly rows: readonly Pick<ComparedRow, 'name' | 'unit' | 'ours' | 'theirs' | 'ratio'>[];
  } | null;
  /** Measures of growth; a point's size and time are above 0. */
  readonly growth: readonly { readonly name: string; readonly exponent: number; readonly points: readonly Point[] }[];
}

/**
 * @param text what `npm run bench -- … --json` printed
 * @throws UsageError for anything else, and where there is nothing to draw.
 */
export function drawnOf(text: string, file: string): Drawn {
  const all = fieldsOf(parsedJson(text));
  const day = /^\d{4}-\d{2}-\d{2}(?=T)/.exec(String(all.at))?.[0];
  const { cores } = fieldsOf(all.machine);
  const drawn = { comparison: comparisonOf(all.comparison), growth: growthOf(all.measures) };
  if (day === undefined || !isAbove0(cores) || (drawn.comparison === null && drawn.growth.length === 0))
    throw new UsageError(
      `${file} holds no figures that can be drawn.`,
      `Make it with: npm run --silent bench -- --only scaling --compare codex --json > ${file}`,
    );
  return { day, cores, ...drawn };
}

function comparisonOf(value: unknown): Drawn['comparison'] {
  const { other, rows } = fieldsOf(value);
  if (typeof other !== 'string' || !Array.isArray(rows)) return null;
  const read = rows.map(fieldsOf).flatMap(({ name, unit, ours, theirs, ratio }) => {
    const isUnit = unit === 'ms' || unit === 's' || unit === 'MB';
    const isRow = typeof name === 'string' && isUnit && isAbove0(ours) && isAbove0(theirs) && isAbove0(ratio);
    return isRow ? [{ name, unit, ours, theirs, ratio } as const] : [];
  });
  return read.length === 0 ? null : { other, rows: read };
}

function growthOf(value: unknown): Drawn['growth'] {
  if (!Array.isArray(value)) return [];
  return value.map(fieldsOf).flatMap(({ name, unit, value: exponent, points }) => {
    if (typeof name !== 'string' || unit !== 'exponent' || typeof exponent !== 'number') return [];
    const read = (Array.isArray(points) ? points : []).map(fieldsOf).flatMap(({ size, ms }) => {
      return isAbove0(size) && isAbove0(ms) ? [{ size, ms }] : [];
    });
    return read.length < 2 ? [] : [{ name, exponent, points: read }];
  });
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function isAbove0(value: unknown): value is number {
  return typeof value === 'number' && value > 0 && value < Number.MAX_SAFE_INTEGER;
}
