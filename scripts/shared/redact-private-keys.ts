import { matchAt } from './redact-quotes.ts';
import type { Detector, Span } from './redact-types.ts';

/** The whole block, with its serialised or indented lines; without an end, the lines that can belong to it. */
export const privateKey: Detector = {
  id: 'private-key',
  literals: ['-----begin', '-----end'],
  detect(text, at) {
    return text[at + 5]?.toLowerCase() === 'b' ? keyFromBegin(text, at) : keyFromEnd(text, at);
  },
};

const maxKey = 32_768;
const beginOfKey = /-----BEGIN ?(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?(?:-----)?/y;
const endOfKey = /-----END ?(?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?(?:-----)?/y;
const lineOfKey =
  /(?:[ \t]{0,16}(?:\\{0,7}["'])?[ \t]{0,4}[+,]?[ \t]{0,4}(?:\r?\n|\\{1,8}r?\\{0,8}n|\\{1,8}u000a))[ \t>|+-]{0,16}(?:\d{1,6}[→:|][ \t]?)?[ \t]{0,16}(?:\\{0,7}["'])?(?:(?:Proc-Type|DEK-Info|Comment|Version|Hash): [^\n\\"]{0,120}|(?:[A-Za-z0-9+/]{16,128}={0,2}|[A-Za-z0-9+/]{1,128}={1,2})?(?=[ \t]{0,8}(?:$|[\r\n"'`<….\\])))/y;

function keyFromBegin(text: string, at: number): Span | null {
  const begin = matchAt(beginOfKey, text, at);
  if (begin === null) return null;
  const from = at + begin[0].length;
  const dashes = text.slice(from, from + maxKey).indexOf('-----');
  const end = dashes === -1 ? null : matchAt(endOfKey, text, from + dashes);
  if (end !== null) return { start: at, end: from + dashes + end[0].length };
  let last = from;
  const inline = matchAt(/[ ]?[A-Za-z0-9+/=]{20,8192}/y, text, from);
  if (inline !== null) last += inline[0].length;
  for (
    let line = matchAt(lineOfKey, text, last);
    line !== null && last - at < maxKey;
    line = matchAt(lineOfKey, text, last)
  ) {
    if (/^\s*$/.test(line[0]) && !matchAt(lineOfKey, text, last + line[0].length)?.[0].match(/[A-Za-z0-9+/=]{8}/))
      break;
    last += line[0].length;
  }
  return { start: at, end: last };
}

/** The tail of a block whose beginning was cut off. */
function keyFromEnd(text: string, at: number): Span | null {
  const end = matchAt(endOfKey, text, at);
  if (end === null) return null;
  let start = at;
  while (start > 0 && at - start < maxKey && /[A-Za-z0-9+/=\\\n\r]/.test(text[start - 1] ?? '')) start--;
  return at - start >= 20 ? { start, end: at + end[0].length } : null;
}
