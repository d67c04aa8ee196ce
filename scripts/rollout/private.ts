import type { Item } from './types.ts';

/** What is left in the place of a private passage. */
export const privateMark = '[private]';

export interface WithoutPrivate {
  readonly items: readonly Item[];
  /** Passages that were taken out. */
  readonly passages: number;
  /** What stood in them, where it is long enough to be known elsewhere: answers and commands repeat it. */
  readonly contents: readonly string[];
}

/**
 * Takes out what stands between `<private>` and `</private>`, marks and all, whoever said it: in any case, with
 * attributes, one inside another, as JSON and HTML write the signs, and over the parts of one record. One that is never
 * closed hides the rest of its record.
 */
export function withoutPrivate(items: readonly Item[]): WithoutPrivate {
  if (!items.some(({ text }) => mention.test(text))) return { items, passages: 0, contents: [] };
  let record = '';
  let depth = 0;
  let passages = 0;
  const contents = new Set<string>();
  const cleaned = items.map((item) => {
    const own = recordOf(item);
    if (own !== record) depth = 0;
    record = own;
    if (depth === 0 && !mention.test(item.text)) return item;
    const cut = cutOut(item.text, depth);
    depth = cut.depth;
    passages += cut.passages;
    for (const content of cut.contents) contents.add(content);
    return { ...item, text: cut.text };
  });
  return { items: cleaned, passages, contents: [...contents] };
}

const mention = /(?:<|&lt;|\\u003c)\s{0,20}private\b/i;

/** An opening or a closing mark. */
const marks = /(?:<|&lt;|\\u003c)\s{0,20}(\/?)\s{0,20}private\b[^<>]{0,200}?(?:>|&gt;|\\u003e)/gi;

/** Characters of a passage from which on its lines are looked for elsewhere. */
const known = 12;

/** Further parts of a record, `12.2`, belong to the message that it holds. */
function recordOf({ n }: Item): string {
  return n.replace(/\.\d+$/, '');
}

function cutOut(text: string, before: number) {
  const kept: string[] = [];
  const contents: string[] = [];
  let depth = before;
  let passages = 0;
  let from = 0;
  const close = (end: number) =>
    contents.push(
      ...text
        .slice(from, end)
        .split(/\r?\n|\\n/)
        .map((line) => line.trim()),
    );
  if (depth > 0) kept.push(privateMark);
  for (const mark of text.matchAll(marks)) {
    const isClosing = mark[1] === '/';
    if (!isClosing && depth === 0) {
      kept.push(text.slice(from, mark.index), privateMark);
      passages += 1;
      from = mark.index + mark[0].length;
    }
    if (isClosing && depth === 1) {
      close(mark.index);
      from = mark.index + mark[0].length;
    }
    depth = isClosing ? Math.max(0, depth - 1) : depth + 1;
  }
  if (depth === 0) kept.push(text.slice(from));
  else close(text.length);
  return { text: kept.join(''), depth, passages, contents: contents.filter((line) => line.length >= known) };
}
