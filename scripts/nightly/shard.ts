import type { Known } from '../model/shard-journal.ts';
import type { Usage } from '../model/types.ts';
import type { Failed } from '../phase1/run.ts';
import { createBuiltinConsolidator } from '../phase2/builtin.ts';
import type { Config } from '../shared/config-schema.ts';
import { byBinary } from '../shared/files.ts';
import { isInShard, type Shard } from '../shared/shard.ts';
import { type NightPolicy, type NightPorts, playNight } from './night.ts';
import type { Start } from './start.ts';

/** What a shard did with its part of the sessions. */
export interface ShardReport {
  readonly shard: Shard;
  /** Sessions of its part that it was to read. */
  readonly sessions: number;
  /** Thread ids, of each kind in binary order. */
  readonly read: readonly string[];
  readonly failed: readonly Failed[];
  readonly left: readonly string[];
  readonly usage: Usage;
}

export type ShardPorts = Omit<NightPorts, 'consolidator' | 'fallback'>;

/**
 * Plays the first half of a night over one part of its sessions and throws the result away: what stays are the answers in
 * the journal. So a shard asks for what the night would ask for, word for word, and the night decides all the rest.
 */
export async function readShard(
  start: Start,
  policy: NightPolicy,
  shard: Shard,
  ports: ShardPorts,
  signal?: AbortSignal,
): Promise<ShardReport> {
  const { found } = await ports.rollouts.list(signal);
  const ids = found.map(({ thread }) => thread.id);
  const part = new Set(ids.filter((id) => isInShard(id, shard) && (policy.only?.has(id) ?? true)));
  const half = { ...policy, phases: { one: true, two: false }, only: part };
  const consolidator = createBuiltinConsolidator();
  const { report } = await playNight(start, half, { ...ports, consolidator, fallback: consolidator }, signal);
  const { extracted, nothing, failed, left, usage } = report.phase1;
  const read = [...extracted, ...nothing].sort(byBinary);
  const leftHere = left.filter((id) => part.has(id)).sort(byBinary);
  return { shard, sessions: read.length + failed.length + leftHere.length, read, failed, left: leftHere, usage };
}

/**
 * A shard's part of what the night may spend: an equal one of what is left of it, so that all shards together never
 * spend more than one night would.
 */
export function shareOf(
  config: Config,
  { spent }: Pick<Known, 'spent'>,
  usdLeft: number | undefined,
  { count }: Shard,
): { readonly tokens: number; readonly usd?: number } {
  const used = spent.filter(({ purpose }) => purpose === 'phase1');
  const tokens = used.reduce((sum, { usage }) => sum + usage.input + usage.output, 0);
  const usd = spent.reduce((sum, entry) => sum + (entry.usd ?? 0), 0);
  const share = (whole: number) => Math.floor(Math.max(0, whole) / count);
  return {
    tokens: share(config.budget.phase1_tokens - tokens),
    ...(usdLeft === undefined ? {} : { usd: share((usdLeft - usd) * 1_000_000) / 1_000_000 }),
  };
}
