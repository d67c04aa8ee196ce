import { parsedJson } from '../shared/json.ts';
import type { Shard } from '../shared/shard.ts';
import { mostShards } from '../shared/shard.ts';
import { at, countAt, textAt } from './at.ts';
import { recordVersion } from './journal-records.ts';

/** Whose answers a shard's journal holds. */
export interface ShardLabel {
  readonly shard: Shard;
  /** The night that they were asked for: an Actions run and attempt, else the last run that the books held then. */
  readonly night: string;
}

/** In a shard's journal, beside its answers. */
export const labelFile = 'shard.json';

export function labelText({ shard, night }: ShardLabel): string {
  return `${JSON.stringify({ version: recordVersion, index: shard.index, count: shard.count, night })}\n`;
}

/** null where it is no label. */
export function parseLabel(text: string): ShardLabel | null {
  const value = parsedJson(text);
  const [index, count, night] = [countAt(value, 'index'), countAt(value, 'count'), textAt(value, 'night')];
  if (at(value, 'version') !== recordVersion || night === null || index === null || count === null) return null;
  if (!Number.isInteger(index) || !Number.isInteger(count)) return null;
  return index < 1 || index > count || count > mostShards ? null : { shard: { index, count }, night };
}
