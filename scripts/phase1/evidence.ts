import type { Item, Thread } from '../rollout/types.ts';
import { citedItems } from '../shared/evidence.ts';
import { isHedged } from '../shared/hedges.ts';
import { sha256 } from '../shared/thread-id.ts';
import type { EvidenceRow } from '../state/types.ts';
import type { Stage1Text } from './types.ts';

/**
 * One row for each item that the output cites, in the rollout's order. Numbers that no item has are ignored: what an
 * output claims without evidence has none.
 * @param items redacted; the row's hash is that of the redacted text.
 */
export function evidenceRows(thread: Thread, items: readonly Item[], text: Stage1Text): EvidenceRow[] {
  const cited = new Set([...citedItems(text.rawMemory), ...citedItems(text.rolloutSummary)]);
  return items
    .filter((item) => cited.delete(item.n))
    .map((item) => ({
      threadId: thread.id,
      n: item.n,
      who: item.who,
      at: item.at,
      line: item.src.line,
      srcId: item.src.id ?? null,
      author: item.who === 'human' ? thread.author : null,
      hash: sha256(item.text).slice(0, 32),
      hedged: item.kind === 'text' && isHedged(item.text),
    }));
}
