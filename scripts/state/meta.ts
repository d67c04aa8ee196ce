import { text } from './columns.ts';
import type { State } from './database.ts';

/**
 * Facts about the state as a whole. `horizon`: epoch seconds in decimal; unselected, uncited rows older than it are
 * gone, so a rollout older than it without a thread row was forgotten and is not new. `salt`: 32 hexadecimal digits that
 * the hashes of what was forgotten are made with.
 */
export type MetaKey = 'horizon' | 'salt';

export function getMeta(state: State, key: MetaKey): string | null {
  const row = state.first('select value from meta where key = :key', { key });
  return row && text(row, 'value');
}

export function setMeta(state: State, key: MetaKey, value: string): void {
  state.run('insert or replace into meta (key, value) values (:key, :value)', { key, value });
}
