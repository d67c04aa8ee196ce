import { parseRollout } from '../rollout/canonical.ts';
import { optOutWord, optsOut, usedOutside } from '../rollout/opt-out.ts';
import type { Item, Rollout } from '../rollout/types.ts';
import { parsedJson } from '../shared/json.ts';

/** What a stored rollout says of itself, its items only counted. */
export interface RolloutHead {
  readonly rollout: Omit<Rollout, 'items'>;
  readonly items: number;
  readonly humanItems: number;
  readonly optsOut: boolean;
  readonly usedOutside: boolean;
}

const newline = 0x0a;
const human = Buffer.from('"who":"human"');
/** An item's number, time and speaker stand within this many bytes of its line. */
const itemHeadBytes = 96;

/**
 * Parses the first line of a rollout that `writeRollout` wrote; the others are counted by their first bytes, so that a
 * night can list thousands.
 * @throws RolloutError where the first line is no header, or the last line has no end.
 */
export function headOfRollout(bytes: Buffer): RolloutHead {
  const end = bytes.indexOf(newline);
  const whole = bytes.at(-1) === newline;
  const { items: _, ...rollout } = parseRollout(bytes.toString('utf8', 0, whole ? end + 1 : bytes.length));
  let items = 0;
  let humanItems = 0;
  let isOut = false;
  let isOutside = false;
  for (let at = end + 1; at < bytes.length; at = bytes.indexOf(newline, at) + 1) {
    items += 1;
    const line = bytes.subarray(at, bytes.indexOf(newline, at));
    const isHuman = line.subarray(0, itemHeadBytes).includes(human);
    if (isHuman) humanItems += 1;
    if (isHuman && !isOut && optOut.test(line.toString('utf8'))) isOut = optsOut(itemIn(line));
    if (!isOutside && outside.some((mark) => line.includes(mark))) isOutside = usedOutside(itemIn(line));
  }
  return { rollout, items, humanItems, optsOut: isOut, usedOutside: isOutside };
}

const optOut = new RegExp(optOutWord, 'i');
/** Within a text these signs are escaped: here they are keys. */
const outside = ['"does":"web"', '"does":"mcp"'].map((mark) => Buffer.from(mark));

function itemIn(line: Buffer): Item[] {
  const item = parsedJson(line.toString('utf8'));
  return item === undefined ? [] : [item as Item];
}
