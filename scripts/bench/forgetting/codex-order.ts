import { day, type EpochSeconds } from '../../shared/clock.ts';
import { byBinary } from '../../shared/files.ts';
import { selectionPolicy } from '../load/books.ts';

interface Row {
  readonly threadId: string;
  readonly repo: string;
  readonly updatedAt: EpochSeconds;
  usageCount: number;
  lastUsage: EpochSeconds | null;
}

/**
 * Codex's selection, to compare with: one for all repositories, by use over all time, every citation counted.
 * @source codex-rs/state/src/runtime/memories.rs, get_phase2_input_selection
 */
export class CodexOrder {
  readonly #rows = new Map<string, Row>();

  add(threadId: string, repo: string, updatedAt: EpochSeconds): void {
    this.#rows.set(threadId, { threadId, repo, updatedAt, usageCount: 0, lastUsage: null });
  }

  cite(threadId: string, at: EpochSeconds): void {
    const row = this.#rows.get(threadId);
    if (row === undefined) return;
    row.usageCount += 1;
    row.lastUsage = Math.max(row.lastUsage ?? 0, at);
  }

  /** Repository → what is selected of it. Rows that can never be selected again are let go of. */
  select(now: EpochSeconds): Map<string, string[]> {
    const cutoff = now - selectionPolicy.maxUnusedDays * day;
    const eligible = [...this.#rows.values()].filter((row) => lastSign(row) >= cutoff);
    for (const { threadId, ...row } of this.#rows.values()) if (lastSign(row) < cutoff) this.#rows.delete(threadId);
    const chosen = eligible.sort(byUse).slice(0, selectionPolicy.maxRawMemories);
    const memory = new Map<string, string[]>();
    for (const { repo, threadId } of chosen) memory.set(repo, [...(memory.get(repo) ?? []), threadId]);
    return new Map([...memory].sort(([a], [b]) => byBinary(a, b)));
  }
}

function lastSign({ lastUsage, updatedAt }: Pick<Row, 'lastUsage' | 'updatedAt'>): EpochSeconds {
  return lastUsage ?? updatedAt;
}

function byUse(a: Row, b: Row): number {
  return (
    b.usageCount - a.usageCount ||
    lastSign(b) - lastSign(a) ||
    b.updatedAt - a.updatedAt ||
    byBinary(b.threadId, a.threadId)
  );
}
