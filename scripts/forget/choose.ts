import type { Item } from '../rollout/types.ts';
import { UsageError } from '../shared/errors.ts';
import { citedItems, type Evidence, type ItemNumber } from '../shared/evidence.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import { listOutputs } from '../state/outputs.ts';
import { getThread, listThreads, threadByShortId } from '../state/threads.ts';
import { readBlockLines } from '../workspace/block-lines.ts';
import { parseHandbook } from '../workspace/handbook.ts';
import { everywhere, handbookPath, isGenerated } from '../workspace/layout.ts';
import { lineHash, type Unit, unitsOf } from '../workspace/lines.ts';
import type { Chosen, DoomedItem } from './doomed.ts';
import { type Held, sessionsIn, threadsIn } from './held.ts';
import type { Target } from './target.ts';
import { wordsOf } from './words.ts';

/** Finds what a target means today. @throws UsageError for a line that is not there, or stands for several. */
export async function choose(target: Target, held: Held, signal?: AbortSignal): Promise<Chosen> {
  switch (target.kind) {
    case 'thread':
      return chooseThreads([await threadOf(target.id, held, signal)], null, held, signal);
    case 'author':
      return chooseThreads(await threadsBy(target.author, held, signal), target.author, held, signal);
    case 'match':
      return chooseMatch(target.words, held, signal);
    case 'line':
      return chooseLine(target.at, held, signal);
  }
}

const nothing: Chosen = { threads: new Set(), items: [], copies: [], author: null, words: [], lines: [] };

async function threadOf(id: string, held: Held, signal?: AbortSignal): Promise<string> {
  if (!/^[a-z2-7]{8}$/.test(id)) return id;
  const known = threadByShortId(held.state, id)?.threadId;
  if (known !== undefined) return known;
  return (await threadsIn(held, signal)).find((thread) => shortThreadId(thread.id) === id)?.id ?? id;
}

async function threadsBy(author: string, held: Held, signal?: AbortSignal): Promise<string[]> {
  const threads = [
    ...listThreads(held.state).flatMap((row) => (row.author === author ? [row.threadId] : [])),
    ...(await threadsIn(held, signal)).flatMap((thread) => (thread.author === author ? [thread.id] : [])),
  ];
  return [...new Set(threads)];
}

async function chooseThreads(
  threads: readonly string[],
  author: string | null,
  held: Held,
  signal?: AbortSignal,
): Promise<Chosen> {
  const wanted = new Set(threads);
  const copies = [];
  for await (const { items } of sessionsIn(held, ({ id }) => wanted.has(id), signal))
    copies.push(...items.filter(isWorthKnowing).map(copyOf));
  return { ...nothing, threads: wanted, copies, author };
}

/** Words of this length at one second are nobody else's: what a fork copied is known by them. */
function isWorthKnowing({ kind, text }: Item): boolean {
  return kind === 'text' && text.length >= 12;
}

function copyOf({ at, text }: Item): Chosen['copies'][number] {
  return { at, text };
}

async function chooseMatch(text: string, held: Held, signal?: AbortSignal): Promise<Chosen> {
  const words = wordsOf([text]);
  const chosen = new Map<string, DoomedItem>();
  const copies: Chosen['copies'][number][] = [];
  const add = (thread: string, repo: string, numbers: readonly ItemNumber[]) => {
    for (const n of numbers) chosen.set(`${thread} ${n}`, { thread, n, repo });
  };
  for await (const { thread, items } of sessionsIn(held, () => true, signal)) {
    const hit = items.filter((item) => words.stand(item.text) || (item.files ?? []).some((file) => words.stand(file)));
    add(
      thread.id,
      thread.repo,
      hit.map(({ n }) => n),
    );
    copies.push(...hit.map(copyOf));
  }
  for (const { threadId, rawMemory, rolloutSummary } of listOutputs(held.state)) {
    const lines = `${rawMemory}\n${rolloutSummary}`.split('\n').filter((line) => words.stand(line));
    add(threadId, getThread(held.state, threadId)?.repo ?? 'none', lines.flatMap(citedItems));
  }
  for (const { raw, evidence } of unitsIn(held.memories)) {
    if (words.stand(raw)) for (const item of itemsOf(evidence, held)) add(item.thread, item.repo, [item.n]);
  }
  return { ...nothing, items: [...chosen.values()], copies, words: [text] };
}

async function chooseLine(
  at: Extract<Target, { kind: 'line' }>['at'],
  held: Held,
  signal?: AbortSignal,
): Promise<Chosen> {
  const line = 'path' in at ? lineAt(at, held) : lineSaying(at.text, held);
  const words = line?.raw ?? ('text' in at ? at.text : '');
  const others = unitsIn(held.memories).filter(({ hash }) => hash !== lineHash(words));
  const cited = new Set(others.flatMap(({ evidence }) => keysOf(evidence)));
  const own = [...itemsOf(line?.evidence ?? [], held), ...saidBySessions(words, held)];
  const items = own.filter(({ thread, n }) => !cited.has(`${shortThreadId(thread)} ${n}`));
  return { ...nothing, items, copies: await copiesOf(items, held, signal), lines: [words] };
}

/** What the outputs' own lines with these words rest on. */
function saidBySessions(words: string, { state }: Held): DoomedItem[] {
  const hash = lineHash(words);
  return listOutputs(state).flatMap(({ threadId, rawMemory, rolloutSummary }) => {
    const lines = `${rawMemory}\n${rolloutSummary}`.split('\n').filter((one) => lineHash(one) === hash);
    const repo = getThread(state, threadId)?.repo ?? 'none';
    return lines.flatMap(citedItems).map((n) => ({ thread: threadId, n, repo }));
  });
}

function lineAt({ path, line }: { readonly path: string; readonly line: number }, { memories }: Held): Unit {
  const text = memories.get(path);
  const number = text?.split('\n').length ?? 0;
  const unit = text === undefined ? undefined : unitsOfFile(path, text).find((one) => covers(one, line));
  if (unit !== undefined) return unit;
  throw new UsageError(
    text === undefined
      ? `There is no ${path} in the memory.`
      : `Line ${line} of ${path} says nothing that can be forgotten.`,
    text === undefined
      ? 'Name it as it stands on the branch that the nights write, such as MEMORY.md:12.'
      : `The file has ${number} lines; a heading that the schema prescribes is none of its own.`,
  );
}

function covers({ line, raw }: Unit, wanted: number): boolean {
  return line <= wanted && wanted < line + raw.split('\n').length;
}

/** The line with these words, else the one line that holds them. */
function lineSaying(text: string, { memories }: Held): Unit | null {
  const units = unitsIn(memories);
  const exact = units.filter(({ hash }) => hash === lineHash(text));
  const found = exact.length > 0 ? exact : units.filter(({ raw }) => wordsOf([text]).stand(raw));
  const hashes = new Set(found.map(({ hash }) => hash));
  if (hashes.size > 1)
    throw new UsageError(
      `${hashes.size} lines say that.`,
      'Name one by its place, such as --line MEMORY.md:12, or all of them: --match "<text>".',
    );
  const [first] = found;
  return first === undefined ? null : { ...first, evidence: found.flatMap(({ evidence }) => evidence) };
}

async function copiesOf(items: readonly DoomedItem[], held: Held, signal?: AbortSignal) {
  const wanted = new Set(items.map(({ thread, n }) => `${thread} ${n}`));
  const threads = new Set(items.map(({ thread }) => thread));
  const copies: Chosen['copies'][number][] = [];
  for await (const rollout of sessionsIn(held, ({ id }) => threads.has(id), signal))
    copies.push(...rollout.items.filter(({ n }) => wanted.has(`${rollout.thread.id} ${n}`)).map(copyOf));
  return copies;
}

function unitsIn(memories: Held['memories']): Unit[] {
  return [...memories].flatMap(([path, text]) => (isGenerated(path) ? [] : unitsOfFile(path, text)));
}

function unitsOfFile(path: string, text: string): Unit[] {
  if (path === handbookPath) return parseHandbook(text).blocks.flatMap(unitsOf);
  return unitsOf({ lines: readBlockLines(text), line: 1 });
}

function itemsOf(evidence: readonly Evidence[], { state }: Held): DoomedItem[] {
  return evidence.flatMap(({ thread, items }) => {
    const row = threadByShortId(state, thread);
    return row === null ? [] : items.map((n) => ({ thread: row.threadId, n, repo: row.repo }));
  });
}

function keysOf(evidence: readonly Evidence[]): string[] {
  return evidence.flatMap(({ thread, items }) => items.map((n) => `${thread} ${n}`));
}

/** The scopes in which an item is hidden. */
export function scopesOfItem({ repo }: DoomedItem): string[] {
  return [...new Set([repo, everywhere])];
}
