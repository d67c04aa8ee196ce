import type { Hash } from 'node:crypto';
import type { Fields } from './fields.ts';
import type { ItemList } from './items.ts';
import { eachLine, type FileEnd } from './lines.ts';
import { recordsOf } from './records.ts';

export interface Visitor {
  /** Where what is no record is counted: `too_long`, `bad_json`, `bad_utf8`, and the labels of `skippable`. */
  readonly list: Pick<ItemList, 'skip'>;
  /** The label of a line that can be dropped unparsed, or null: then it is parsed. */
  skippable(line: Buffer): string | null;
  /** @param line from 1; several records on one line have its number. */
  record(record: Fields, line: number): void;
}

/** Visits every record of a JSONL transcript in order. */
export function eachRecord(path: string, hash: Hash, visitor: Visitor, signal?: AbortSignal): Promise<FileEnd> {
  const { list } = visitor;
  return eachLine(
    path,
    hash,
    ({ bytes, tooLong, number }) => {
      if (tooLong) {
        list.skip('too_long');
        return;
      }
      if (bytes.length === 0) return;
      const label = visitor.skippable(bytes);
      if (label !== null) {
        list.skip(label);
        return;
      }
      const { records, bad, badText } = recordsOf(bytes);
      if (bad) list.skip('bad_json');
      if (badText) list.skip('bad_utf8');
      for (const record of records) visitor.record(record, number);
    },
    signal,
  );
}
