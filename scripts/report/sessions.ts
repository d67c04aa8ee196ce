import { withoutHidden } from '../phase2/rows.ts';
import type { Item } from '../rollout/types.ts';
import { citedItems, type ItemNumber, withoutEvidence } from '../shared/evidence.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import { evidenceOf } from '../state/evidence.ts';
import { outputOf } from '../state/outputs.ts';
import { listThreads } from '../state/threads.ts';
import { tombstonesOf } from '../state/tombstones.ts';
import type { EvidenceRow, Stage1Output, ThreadRow } from '../state/types.ts';
import { everywhere } from '../workspace/layout.ts';
import { type Facts, type Use, type UseFacts, wireUse } from './facts.ts';
import type { WireItem, WireSession, WireWords } from './wire.ts';

export interface Sessions {
  /** The most used first. */
  readonly list: readonly WireSession[];
  /** In the order of `list`. */
  readonly words: readonly WireWords[];
  /** Short id → its place in `list`. */
  readonly places: ReadonlyMap<string, number>;
  /** Short id → who said its items, for those that are known. */
  readonly speakers: ReadonlyMap<string, ReadonlyMap<ItemNumber, EvidenceRow['who']>>;
}

/**
 * The sessions that are remembered or that the handbook names, each with the items that its memory rests on. What is
 * under a tombstone is not shown: a forgotten session is missing, a forgotten item has no words.
 */
export async function sessionsOf(
  { state, usage, words }: Facts,
  named: ReadonlyMap<string, readonly ItemNumber[]>,
): Promise<Sessions> {
  const known = rememberedOf(state, usage, named);
  const found = await words(new Map(known.map(({ thread, numbers }) => [thread.threadId, numbers])));
  return {
    list: known.map((one): WireSession => {
      const { threadId: id, repo, agent, author, startedAt: at } = one.thread;
      const { shortId } = one;
      return {
        id,
        shortId,
        title: titleOf(one),
        repo,
        agent,
        author,
        at,
        use: wireUse(one.use),
        named: named.has(shortId),
      };
    }),
    words: known.map((one) => wordsOf(one, found.get(one.thread.threadId))),
    places: new Map(known.map(({ shortId }, place) => [shortId, place])),
    speakers: new Map(
      known.map(({ shortId, evidence }) => [shortId, new Map([...evidence].map(([n, row]) => [n, row.who]))]),
    ),
  };
}

interface Remembered {
  readonly thread: ThreadRow;
  readonly shortId: string;
  readonly use: Use;
  readonly output: Stage1Output | null;
  readonly evidence: ReadonlyMap<ItemNumber, EvidenceRow>;
  /** The items that the handbook or the output cites. */
  readonly numbers: readonly ItemNumber[];
  isHidden(n: ItemNumber): boolean;
}

function rememberedOf(
  state: State,
  { threads: uses }: UseFacts,
  named: ReadonlyMap<string, readonly ItemNumber[]>,
): Remembered[] {
  const threads = new Map(listThreads(state).map((thread) => [thread.threadId, thread]));
  const tombstones = tombstonesOf(state);
  return uses.flatMap((use): Remembered[] => {
    const thread = threads.get(use.threadId);
    if (thread === undefined || tombstones.hidesThread(thread.threadId) || tombstones.hidesAuthor(thread.author))
      return [];
    const shortId = shortThreadId(thread.threadId);
    const output = outputOf(state, thread.threadId);
    const cited = output === null ? [] : citedItems(`${output.rawMemory}\n${output.rolloutSummary}`);
    return [
      {
        thread,
        shortId,
        use,
        output,
        evidence: new Map(evidenceOf(state, thread.threadId).map((row) => [row.n, row])),
        numbers: [...new Set([...(named.get(shortId) ?? []), ...cited])].sort(byNumber),
        isHidden: (n) => [thread.repo, everywhere].some((scope) => tombstones.hidesEvidence(thread.threadId, n, scope)),
      },
    ];
  });
}

/** A title is the first words that the person said: where some of theirs are forgotten, it might repeat them. */
function titleOf({ thread, evidence, isHidden }: Remembered): string {
  const isForgotten = [...evidence.values()].some(({ n, who }) => who === 'human' && isHidden(n));
  return isForgotten ? '' : thread.title;
}

function wordsOf(
  { output, evidence, numbers, isHidden }: Remembered,
  found?: ReadonlyMap<ItemNumber, Item>,
): WireWords {
  const quotes = output === null ? new Map<ItemNumber, string>() : quotesOf(output);
  return {
    items: numbers.map((n): WireItem => {
      const item = found?.get(n);
      const row = evidence.get(n);
      const head = { n, who: item?.who ?? row?.who ?? '', at: item?.at ?? row?.at ?? null };
      if (isHidden(n)) return { ...head, text: '', from: 'forgotten' };
      if (item !== undefined) return { ...head, text: item.text, from: 'session' };
      const quote = quotes.get(n);
      return quote === undefined ? { ...head, text: '', from: 'gone' } : { ...head, text: quote, from: 'extract' };
    }),
    summary: withoutHidden(output?.rolloutSummary ?? '', isHidden).trim(),
  };
}

/** Item → the lines of the output that rest on it. */
function quotesOf({ rawMemory, rolloutSummary }: Stage1Output): Map<ItemNumber, string> {
  const quotes = new Map<ItemNumber, string>();
  for (const line of `${rawMemory}\n${rolloutSummary}`.split('\n')) {
    const words = withoutEvidence(line)
      .replace(/^[ \t]*(?:[-*+][ \t]+|#{1,6}[ \t]+)/, '')
      .trim();
    if (words === '') continue;
    for (const n of citedItems(line)) {
      const before = quotes.get(n);
      if (before === undefined) quotes.set(n, words);
      else if (!before.includes(words)) quotes.set(n, `${before}\n${words}`);
    }
  }
  return quotes;
}

/** `12` before `12.2` before `13`, main files before side files. */
function byNumber(a: ItemNumber, b: ItemNumber): number {
  const [x, y] = [partsOf(a), partsOf(b)];
  return (x[0] ?? 0) - (y[0] ?? 0) || (x[1] ?? 0) - (y[1] ?? 0) || (x[2] ?? 0) - (y[2] ?? 0);
}

function partsOf(n: ItemNumber): number[] {
  const match = /^(?:(\d+):)?(\d+)(?:\.(\d+))?$/.exec(n);
  return [match?.[1], match?.[2], match?.[3]].map((part) => Number(part ?? 0));
}
