import type { Item } from '../rollout/types.ts';
import { formatItems, type ItemNumber } from '../shared/evidence.ts';
import type { Line } from './outline.ts';
import { fold, occurs, quotesIn } from './quotes.ts';

/** Which of the two texts, as the model knows it. */
export type Field = 'raw_memory' | 'rollout_summary';

/** An item that a bullet can cite; its text as quotations are compared with it is made once, when it is needed. */
export interface Citable {
  readonly item: Item;
  folded(): string;
}

export interface CheckedBullet {
  /** Words and evidence as they may be stored; null where the bullet has to go. */
  readonly text: string | null;
  readonly isUnverified: boolean;
  readonly problems: readonly string[];
}

export function citable(items: readonly Item[]): ReadonlyMap<ItemNumber, Citable> {
  return new Map(
    items.map((item) => {
      let folded: string | undefined;
      const once = (): string => {
        folded ??= fold(item.text);
        return folded;
      };
      return [item.n, { item, folded: once }];
    }),
  );
}

/** Compares one bullet with the items that it names. */
export function checkBullet(line: Line, field: Field, items: ReadonlyMap<ItemNumber, Citable>): CheckedBullet {
  const { words, numbers } = withoutMarks(line.text);
  const named = numbers.flatMap((number) => items.get(number) ?? []);
  const unknown = numbers.filter((number) => !items.has(number));
  const human = named.filter(({ item }) => item.who === 'human');
  const at = `${field}, "${excerpt(words)}"`;
  const problems: string[] = [];
  if (unknown.length > 0) problems.push(`${at}: there is no item ${unknown.slice(0, 5).join(', ')}.`);
  if (named.length === 0) {
    problems.push(`${at}: the bullet does not end in the items that it rests on.`);
    return field === 'raw_memory' || isPreference(line)
      ? { text: null, isUnverified: false, problems }
      : { text: marked(words), isUnverified: true, problems };
  }
  if (isPreference(line) && human.length === 0) {
    problems.push(`${at}: a preference must name an item of the human, and these are not.`);
    return { text: null, isUnverified: false, problems };
  }
  const sources = human.length > 0 ? human : named;
  const missing = quotesIn(words).filter((quote) => !sources.some((source) => occurs(quote, source.folded())));
  for (const quote of missing.slice(0, 3))
    problems.push(
      `${at}: the words "${excerpt(quote)}" are not in ${human.length > 0 ? 'the human items' : 'the items'} ` +
        `${sources.map(({ item }) => item.n).join(', ')} that it names.`,
    );
  const evidence = formatItems(named.map(({ item }) => item.n));
  const text = missing.length > 0 ? marked(words) : words;
  return { text: `${text} ${evidence}`, isUnverified: missing.length > 0, problems };
}

/** At most 120 characters of a text, on one line: for a problem's sentence. */
export function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= 120 ? line : `${[...line].slice(0, 119).join('')}…`;
}

function isPreference(line: Line): boolean {
  return line.section === 'project' || line.section === 'personal' || line.section === 'preferences';
}

const mark = / ?[([] ?(@ ?\d[\d:.,;@ –-]{0,400})[)\]]/g;
const number = /(?:\d{1,6}:)?\d{1,9}(?:\.\d{1,6})?/g;

/** A bullet without its evidence, however a model wrote it: `(@12, 15)`, `(@12, @15)`, `[@12]`, in its middle too. */
function withoutMarks(text: string): { words: string; numbers: ItemNumber[] } {
  const numbers = [...text.matchAll(mark)].flatMap((match) => match[1]?.match(number) ?? []);
  const words = text
    .replace(mark, '')
    .replace(/\s{2,}/g, ' ')
    .trim();
  return { words, numbers: [...new Set(numbers)].slice(0, 100) };
}

const unverifiedMark = '(unverified)';

function marked(words: string): string {
  return words.endsWith(unverifiedMark) ? words : `${words} ${unverifiedMark}`;
}
