/** What a JSON line says of itself before it is parsed; null where its head does not say. */
export interface Head {
  /** The value of its own key `type`. */
  readonly type: string | null;
  /** The first key's value of the object under the key asked for, where that first key is `type`. */
  readonly inner: string | null;
}

const headBytes = 4096;
const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const openBracket = 0x5b;
const closeBrace = 0x7d;
const comma = 0x2c;
const colon = 0x3a;
const nextObject = Buffer.from('}{"');

/**
 * Reads the keys of a line's outermost object in order, up to the object under `innerKey` or to any other nested value.
 * A word inside a text never looks like a key here: texts are stepped over as a whole.
 */
export function headOf(line: Buffer, innerKey: string): Head {
  const end = Math.min(line.length, headBytes);
  let type: string | null = null;
  if (line[0] !== openBrace) return { type, inner: null };
  let at = 1;
  while (at < end && line[at] === quote) {
    const keyEnd = textEnd(line, at, end);
    if (keyEnd === null || line[keyEnd] !== colon) break;
    const key = line.toString('latin1', at + 1, keyEnd - 1);
    const valueAt = keyEnd + 1;
    const first = line[valueAt];
    let valueEnd: number | null;
    if (first === quote) {
      valueEnd = textEnd(line, valueAt, end);
      if (valueEnd !== null && key === 'type') type = line.toString('latin1', valueAt + 1, valueEnd - 1);
    } else if (first === openBrace || first === openBracket) {
      return { type, inner: key === innerKey ? firstType(line, valueAt, end) : null };
    } else {
      valueEnd = literalEnd(line, valueAt, end);
    }
    if (valueEnd === null || line[valueEnd] !== comma) break;
    at = valueEnd + 1;
  }
  return { type, inner: null };
}

/**
 * Whether a line that one would skip for its head could hold a second record, or is cut: then it must be parsed.
 * @param start how a record of this agent begins.
 */
export function mayHoldMore(line: Buffer, start: Buffer): boolean {
  return line[line.length - 1] !== closeBrace || line.includes(nextObject) || line.indexOf(start, 1) !== -1;
}

function firstType(line: Buffer, braceAt: number, end: number): string | null {
  const key = '{"type":"';
  if (line.toString('latin1', braceAt, braceAt + key.length) !== key) return null;
  const valueAt = braceAt + key.length - 1;
  const valueEnd = textEnd(line, valueAt, end);
  return valueEnd === null ? null : line.toString('latin1', valueAt + 1, valueEnd - 1);
}

/** The index after the quote that closes the text at `start`, or null when that lies beyond `end`. */
function textEnd(line: Buffer, start: number, end: number): number | null {
  for (let at = start + 1; at < end; at += 1) {
    if (line[at] === backslash) at += 1;
    else if (line[at] === quote) return at + 1;
  }
  return null;
}

function literalEnd(line: Buffer, start: number, end: number): number | null {
  for (let at = start; at < end; at += 1) if (line[at] === comma || line[at] === closeBrace) return at;
  return null;
}
