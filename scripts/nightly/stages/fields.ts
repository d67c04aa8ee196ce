import { MemoryError, messageOf } from '../../shared/errors.ts';
import type { Oid } from '../../shared/files.ts';

/** What a job hands over is not as this version writes it. */
export class HandOverError extends MemoryError {
  constructor(file: string, reason: string) {
    super(
      `${file} of the night cannot be believed: ${reason}.`,
      'Nothing of it was pushed. Run the workflow again with all its jobs.',
    );
  }
}

/** Reads one JSON object field by field; whatever is missing, unknown or of another kind is named. */
export interface Fields {
  text(name: string, pattern?: RegExp): string;
  textOrNull(name: string): string | null;
  oid(name: string): Oid;
  oidOrNull(name: string): Oid | null;
  /** A whole number from 0. */
  count(name: string): number;
  countOrNull(name: string): number | null;
  switch(name: string): boolean;
  texts(name: string): readonly string[];
  fields(name: string): Fields;
  fieldsOrNull(name: string): Fields | null;
  list(name: string): readonly Fields[];
  /** Name → whole number. */
  counts(name: string): Readonly<Record<string, number>>;
  oneOf<T extends string>(name: string, ...known: readonly T[]): T;
}

/** @throws HandOverError for text that is no JSON object. */
export function parseFields(file: string, text: string): Fields {
  try {
    return fieldsOf(file, '', JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new HandOverError(file, `it is no JSON (${messageOf(error).slice(0, 100)})`);
    throw error;
  }
}

const longestText = 10_000;
const longestList = 200_000;

function fieldsOf(file: string, place: string, value: unknown): Fields {
  const fail = (name: string, expected: string): never => {
    throw new HandOverError(file, `${`${place}${name}` || 'the whole'} should be ${expected}`);
  };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail('', 'an object');
  const all = new Map<string, unknown>(Object.entries(value));
  const asText = (name: string, found: unknown) =>
    typeof found === 'string' && found.length <= longestText ? found : fail(name, 'a text');
  const asCount = (name: string, found: unknown) =>
    typeof found === 'number' && Number.isSafeInteger(found) && found >= 0 ? found : fail(name, 'a whole number');
  const asList = (name: string): readonly unknown[] => {
    const found = all.get(name);
    return Array.isArray(found) && found.length <= longestList ? found : fail(name, 'a list');
  };
  const fields: Fields = {
    text: (name, pattern) => {
      const found = asText(name, all.get(name));
      return pattern === undefined || pattern.test(found) ? found : fail(name, `like ${pattern.source}`);
    },
    textOrNull: (name) => (all.get(name) === null ? null : fields.text(name)),
    oid: (name) => {
      const found = fields.text(name);
      return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(found) ? found : fail(name, 'a commit id');
    },
    oidOrNull: (name) => (all.get(name) === null ? null : fields.oid(name)),
    count: (name) => asCount(name, all.get(name)),
    countOrNull: (name) => (all.get(name) === null ? null : fields.count(name)),
    switch: (name) => {
      const found = all.get(name);
      return typeof found === 'boolean' ? found : fail(name, 'true or false');
    },
    texts: (name) => asList(name).map((found) => asText(name, found)),
    fields: (name) => fieldsOf(file, `${place}${name}.`, all.get(name)),
    fieldsOrNull: (name) => (all.get(name) === null ? null : fields.fields(name)),
    list: (name) => asList(name).map((found, at) => fieldsOf(file, `${place}${name}[${at}].`, found)),
    counts: (name) => {
      const found = all.get(name);
      if (typeof found !== 'object' || found === null || Array.isArray(found)) return fail(name, 'an object');
      return Object.fromEntries(Object.entries(found).map(([key, count]) => [key, asCount(`${name}.${key}`, count)]));
    },
    oneOf: (name, ...known) => known.find((one) => one === all.get(name)) ?? fail(name, `one of ${known.join(', ')}`),
  };
  return fields;
}
