import { UsageError } from './errors.ts';
import { sha256 } from './thread-id.ts';

/** One part of a night's sessions: the `index`-th of `count`, from 1. */
export interface Shard {
  readonly index: number;
  readonly count: number;
}

/** As many jobs as a GitHub matrix may have. */
export const mostShards = 256;

/** Of `--shard 2/5`. @throws UsageError */
export function parseShard(text: string): Shard {
  const [, index = 0, count = 0] = /^(\d{1,3})\/(\d{1,3})$/.exec(text)?.map(Number) ?? [];
  if (index < 1 || index > count || count > mostShards) {
    throw new UsageError(
      `--shard does not take “${text.slice(0, 40)}”.`,
      `Write which part of how many, such as 2/5: from 1/5 to 5/5, and at most ${mostShards} parts.`,
    );
  }
  return { index, count };
}

/** How many machines read at once, of `--shards 5`. @throws UsageError */
export function parseShardCount(text: string): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > mostShards) {
    throw new UsageError(
      `--shards does not take “${text.slice(0, 40)}”.`,
      `Write a number from 1 to ${mostShards}. The workflow has it from the repository variable MEMORY_SHARDS.`,
    );
  }
  return count;
}

export function shardText({ index, count }: Shard): string {
  return `${index}/${count}`;
}

/** Whether a session is of this part: by its id alone, so that all machines agree and no part depends on another. */
export function isInShard(threadId: string, { index, count }: Shard): boolean {
  return Number.parseInt(sha256(threadId).slice(0, 12), 16) % count === index - 1;
}
