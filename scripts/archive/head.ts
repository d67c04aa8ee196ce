import { parseRollout } from '../rollout/canonical.ts';
import type { Rollout } from '../rollout/types.ts';

/** What a stored rollout says of itself, its items only counted. */
export interface RolloutHead {
  readonly rollout: Omit<Rollout, 'items'>;
  readonly items: number;
  readonly humanItems: number;
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
  for (let at = end + 1; at < bytes.length; at = bytes.indexOf(newline, at) + 1) {
    items += 1;
    if (bytes.subarray(at, at + itemHeadBytes).includes(human)) humanItems += 1;
  }
  return { rollout, items, humanItems };
}
