import { limits } from './limits.ts';
import { ToolError } from './tool-error.ts';

/** A call's arguments, once it is known that no unknown one is among them. What is null counts as not given. */
export interface Arguments {
  text(name: string): string;
  optionalText(name: string): string | undefined;
  texts(name: string): readonly string[];
  flag(name: string, otherwise: boolean): boolean;
  /** A whole number of at least `least`; undefined where it is not given. */
  count(name: string, least: number): number | undefined;
  /** A record's fields, none of them unknown; undefined where it is not given. */
  record(name: string, known: readonly string[]): Arguments | undefined;
}

/** @throws ToolError for what is no object, an argument that is not known, and arguments that are too large. */
export function readArguments(tool: string, given: unknown, known: readonly string[]): Arguments {
  const value = given ?? {};
  if (!isRecord(value)) throw new ToolError(`The arguments of ${tool} are no object.`, `It takes ${named(known)}.`);
  if (Buffer.byteLength(JSON.stringify(value)) > limits.argumentBytes)
    throw new ToolError(
      `The arguments of ${tool} have more than ${limits.argumentBytes} bytes.`,
      'Call it with less text.',
    );
  return argumentsOf(tool, value, known);
}

function argumentsOf(place: string, value: Record<string, unknown>, known: readonly string[]): Arguments {
  const fields = new Map(Object.entries(value));
  const unknown = [...fields.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new ToolError(`${quoted(unknown)} is no argument of ${place}.`, `It takes ${named(known)}.`);
  const wrong = (name: string, wanted: string) =>
    new ToolError(`${quoted(name)} of ${place} must be ${wanted}.`, 'Correct it and call again.');
  const optionalText = (name: string) => {
    const text = fields.get(name) ?? undefined;
    if (text !== undefined && typeof text !== 'string') throw wrong(name, 'a text');
    return text;
  };
  return {
    optionalText,
    text(name) {
      const text = optionalText(name);
      if (text === undefined) throw wrong(name, 'given, as a text');
      return text;
    },
    texts(name) {
      const list = fields.get(name);
      if (!Array.isArray(list) || !list.every((entry) => typeof entry === 'string'))
        throw wrong(name, 'a list of texts');
      return list;
    },
    flag(name, otherwise) {
      const flag = fields.get(name) ?? otherwise;
      if (typeof flag !== 'boolean') throw wrong(name, 'true or false');
      return flag;
    },
    count(name, least) {
      const count = fields.get(name) ?? undefined;
      if (count === undefined) return undefined;
      if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < least)
        throw wrong(name, `a whole number of at least ${least}`);
      return count;
    },
    record(name, inner) {
      const record = fields.get(name) ?? undefined;
      if (record === undefined) return undefined;
      if (!isRecord(record)) throw wrong(name, 'an object');
      return argumentsOf(name, record, inner);
    },
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function quoted(name: string): string {
  return `“${name.slice(0, 60)}”`;
}

function named(known: readonly string[]): string {
  return known.join(', ');
}
