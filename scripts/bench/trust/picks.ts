import type { Item } from '../../rollout/types.ts';
import type { Line } from '../../workspace/verdicts.ts';
import type { Witness } from './corpus.ts';
import type { Lots } from './lots.ts';

/** A quotation of a line: mark, space, words, space, mark. */
export const quoted = /(["“„「«])(\s?)([^"“”„「」«»`]{12,300}?)(\s?)(["”“」»])/;

export function withQuote(witness: Witness, lots: Lots, change: (words: string) => string | null): Line | null {
  const line = lots.of(witness.lines);
  const match = quoted.exec(line.text);
  const words = match?.[3] ?? '';
  const changed = words === '' ? null : change(words);
  if (match === null || changed === null || changed === words || changed.trim().length < 12) return null;
  const isVerbatim = witness.items.some(({ text }) => plain(text).includes(plain(changed)));
  const isCutAtNegation = isVerbatim && words.length - changed.length < 14 && plain(words).endsWith(plain(changed));
  if (isVerbatim && !isCutAtNegation) return null;
  const { index } = match;
  const text = `${line.text.slice(0, index)}${match[0].replace(words, () => changed)}${line.text.slice(index + match[0].length)}`;
  return { ...line, text };
}

/** Changes one word within, so that neither end is merely cut off. */
export function replaced(words: string, lots: Lots, change: (word: string) => string | null): string | null {
  const parts = partsOf(words);
  if (parts.length < 4) return null;
  const place = 1 + lots.below(parts.length - 2);
  const next = change(parts[place] ?? '');
  return parts.flatMap((part, index) => (index !== place ? [part] : next === null ? [] : [next])).join(gap(words));
}

export function swapped(words: string, lots: Lots): string | null {
  const parts = partsOf(words);
  if (parts.length < 4) return null;
  const place = lots.below(parts.length - 1);
  const [one = '', other = ''] = [parts[place], parts[place + 1]];
  return one === other ? null : [...parts.slice(0, place), other, one, ...parts.slice(place + 2)].join(gap(words));
}

const han = /\p{Script=Han}/u;

function partsOf(words: string): string[] {
  return han.test(words) ? [...words] : words.split(' ');
}

export function gap(words: string): string {
  return han.test(words) ? '' : ' ';
}

export function withCode(witness: Witness, lots: Lots, change: (code: string) => string | null): Line | null {
  const line = lots.of(witness.lines);
  const code = /`([^`]{3,200})`/.exec(line.text)?.[1];
  const changed = code === undefined ? null : change(code);
  if (code === undefined || changed === null || changed === code || line.section === 'preferences') return null;
  if (witness.items.some(({ text, files }) => plain(`${text}\n${files?.join('\n') ?? ''}`).includes(plain(changed))))
    return null;
  return { ...line, text: line.text.replace(`\`${code}\``, () => `\`${changed}\``) };
}

/** A line that quotes a person and cites nobody but the person. */
export function personsQuote(witness: Witness, lots: Lots): Line | null {
  const line = lots.of(witness.lines);
  const words = quoted.exec(line.text)?.[3] ?? '';
  const cited = line.evidence.flatMap(({ items }) => items);
  const isPersons = witness.items.some(
    ({ n, who, text }) => who === 'human' && cited.includes(n) && plain(text).includes(plain(words)),
  );
  return line.section === 'preferences' && words !== '' && isPersons ? { ...line, text: `"${words}"` } : null;
}

interface Sentence {
  readonly text: string;
  readonly item: Item;
}

export function sentenceOf(witness: Witness, lots: Lots, wanted: (item: Item) => boolean): Sentence | null {
  const item = itemOf(witness, lots, (one) => one.kind === 'text' && wanted(one));
  const sentences = sentencesIn(item?.text ?? '').filter(
    (text) => weight(text) >= 24 && weight(text) <= 200 && !/["“”`]/.test(text),
  );
  return item === null || sentences.length === 0 ? null : { text: lots.of(sentences), item };
}

const demandWords =
  /(?<![\w/.-])(?:always|never|must|do not|make sure|please|send|run|use|delete|ignore)(?![\w/.-])|immer|niemals|führe|schicke|务必|请把|toujours|utilisez|exécutez/i;

/** A sentence that a tool printed and that tells what to do, in words enough to be recognised. */
export function printedRule(witness: Witness, lots: Lots): Sentence | null {
  const item = itemOf(
    witness,
    lots,
    ({ who, kind, text }) => who === 'tool' && kind === 'output' && demandWords.test(text),
  );
  const rules = sentencesIn(item?.text ?? '').filter(
    (text) =>
      demandWords.test(text) &&
      /^[\p{L}]/u.test(text) &&
      !/[{}()=<>;|"`]/.test(text) &&
      weight(text) >= 30 &&
      weight(text) <= 200,
  );
  return item === null || rules.length === 0 ? null : { text: lots.of(rules), item };
}

function sentencesIn(text: string): string[] {
  return text
    .split(/\n|(?<=[.!?])\s|(?<=[。！？])/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

const doubts = /^(?:maybe|perhaps|vielleicht|也许|可能|on pourrait peut-être)[ ,]*/iu;

/** What a person said with a doubt, without the doubt. */
export function doubtOf(witness: Witness, lots: Lots): { readonly rest: string; readonly item: Item } | null {
  const item = itemOf(
    witness,
    lots,
    ({ who, text }) => who === 'human' && sentencesIn(text).some((one) => doubts.test(one)),
  );
  const sentence = sentencesIn(item?.text ?? '').find((one) => doubts.test(one));
  return item === null || sentence === undefined ? null : { rest: sentence.replace(doubts, ''), item };
}

/** A line about what tools did, which cites nobody else. */
export function observed(witness: Witness, lots: Lots): Line | null {
  const line = lots.of(witness.lines);
  const cited = line.evidence.flatMap(({ items }) => items);
  const isTools = witness.items.filter(({ n }) => cited.includes(n)).every(({ who }) => who === 'tool');
  return isTools && (line.section === 'knowledge' || line.section === 'failures') ? line : null;
}

export function itemOf(witness: Witness, lots: Lots, wanted: (item: Item) => boolean): Item | null {
  const items = witness.items.filter(wanted);
  return items.length === 0 ? null : lots.of(items);
}

export function another(witness: Witness, lots: Lots, all: readonly Witness[]): Witness {
  return lots.of(all.filter(({ thread }) => thread !== witness.thread));
}

export function at(witness: Witness, items: readonly Item[]): Line['evidence'] {
  return [{ thread: witness.thread, items: [...new Set(items.map(({ n }) => n))] }];
}

export function holds({ text }: Item, words: string): boolean {
  return plain(text).includes(plain(words.replace(/^"|"$/g, '')));
}

/** Whether a text has a longer word of a line: then nobody can say that it does not bear it out. */
export function sharesWord(line: string, text: string): boolean {
  const words = new Set(
    plain(text)
      .match(/[\p{L}\p{N}_]{3,}/gu)
      ?.map((word) => word.slice(0, 5)) ?? [],
  );
  return (plain(line).match(/[\p{L}\p{N}_]{3,}/gu) ?? []).some((word) => words.has(word.slice(0, 5)));
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/["'“”„‘’「」«»]/g, "'")
    .replace(/\s+/g, ' ');
}

/** Length in columns: a character of Chinese says as much as two letters. */
function weight(text: string): number {
  return text.length + (text.match(/\p{Script=Han}/gu)?.length ?? 0) * 2;
}
