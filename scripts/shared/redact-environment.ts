import { secretName } from './redact-names.ts';
import type { Detector } from './redact-types.ts';
import { isCode, isNumber, isPath, isStandIn, isWordy } from './redact-values.ts';
import { slowHash } from './thread-id.ts';

const minValue = 8;
const maxValue = 8192;
/** How much of a value the scanner looks for; the detector compares the rest. */
const anchor = 24;

/**
 * One detector for the values of this machine's secret-looking variables, in every form that a transcript may hold
 * them: as they are, inside JSON (also twice), URL-encoded, in base64 (also inside other bytes).
 */
export function environmentDetector(env: Readonly<Record<string, string | undefined>>): Detector | null {
  const forms = [...new Set(secretsIn(env).flatMap(formsOf))];
  if (forms.length === 0) return null;
  const longestFirst = forms.sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  return {
    id: 'environment',
    literals: [...new Set(longestFirst.map((form) => form.slice(0, anchor)))],
    detect(text, at) {
      const form = longestFirst.find((candidate) => text.startsWith(candidate, at));
      return form === undefined ? null : { start: at, end: at + form.length };
    },
  };
}

/** Changes when one of those values does, and tells none of them. Empty where there is none. */
export function environmentMark(env: Readonly<Record<string, string | undefined>>): string {
  const values = [...new Set(secretsIn(env))].sort();
  return values.length === 0 ? '' : slowHash(JSON.stringify(values));
}

function secretsIn(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => (isSecret(name, value) ? [value] : []));
}

function isSecret(name: string, value: string | undefined): value is string {
  if (value === undefined || value.length < minValue || value.length > maxValue) return false;
  const kind = secretName(name);
  if (kind === null || isStandIn(value) || isPath(value) || isNumber(value) || /^\w+:\/\/[^@]*$/.test(value))
    return false;
  return (kind.kind === 'password' && kind.sure) || !(isWordy(value) && value.length < 16) || !isCode(value);
}

function formsOf(value: string): string[] {
  const inJson = JSON.stringify(value).slice(1, -1);
  const bytes = Buffer.from(value);
  const inUrl = encodeURIComponent(bytes.toString());
  return [
    value,
    inJson,
    JSON.stringify(inJson).slice(1, -1),
    inUrl,
    inUrl.replace(/%20/g, '+'),
    ...[0, 1, 2].flatMap((offset) => base64Within(bytes, offset)),
  ].filter((form) => form.length >= minValue);
}

/** The digits of base64 that are the same whatever stands before (`offset` bytes modulo 3) and after the value. */
function base64Within(bytes: Buffer, offset: number): string[] {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  const skipped = offset === 0 ? 0 : offset + 1;
  const kept = Math.floor((padded.length * 8) / 6);
  const standard = padded.toString('base64').slice(skipped, kept);
  return [standard, standard.replace(/\+/g, '-').replace(/\//g, '_')];
}
