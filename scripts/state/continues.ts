import { parseSnapshotText, type RowText, valuesOf } from './snapshot-text.ts';

/**
 * Whether a state's text knows every run and every tombstone of another: then it goes on from it, whatever their
 * commits say. A state that `forget` wrote has no parent, so that the words are not in its history. One that no night has
 * written says nothing of where it comes from.
 * @throws SnapshotError
 */
export function continues(later: string, earlier: string): boolean {
  return (
    keysIn(earlier, 'runs').size > 0 &&
    (['runs', 'tombstones'] as const).every((table) => {
      const known = keysIn(later, table);
      return [...keysIn(earlier, table)].every((key) => known.has(key));
    })
  );
}

function keysIn(text: string, name: 'runs' | 'tombstones'): Set<string> {
  const table = parseSnapshotText(text).tables.find((one) => one.name === name);
  const places = keyColumns[name].map((column) => table?.columns.indexOf(column) ?? -1);
  const keyOf = (row: RowText) => {
    const values = valuesOf(row);
    return JSON.stringify(places.map((place) => values[place]));
  };
  return new Set((table?.rows ?? []).map(keyOf));
}

const keyColumns = { runs: ['run_id'], tombstones: ['kind', 'key'] } as const;
