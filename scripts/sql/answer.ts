import { terminalText } from '../shared/escape.ts';
import { type TableColumn, textTable } from '../shared/text-table.ts';
import type { QueryResult } from '../state/query.ts';

type Cell = QueryResult['rows'][number][number];

/** Columns of a terminal that one cell may take. */
const widestCell = 60;

/** Aligned columns; numbers stand to the right, nothing shows as `NULL`, a long cell is cut. */
export function answerTable({ columns, rows }: QueryResult): string {
  const table = textTable(
    columns.map((name, at): TableColumn => ({ name, align: isNumeric(rows, at) ? 'right' : 'left' })),
    rows.map((row) => row.map(cellText)),
    widestCell,
  );
  const [head = '', ...lines] = table;
  const count = rows.length === 1 ? '1 row' : `${rows.length} rows`;
  return [head, '-'.repeat(Math.min(head.length, 80)), ...lines, `(${count})`].join('\n');
}

/**
 * RFC 4180: CRLF, a head, quotes where they are needed. Nothing is an empty field and an empty text is `""`. Cells are
 * whole; what a terminal would act on stands as `\u{…}`.
 */
export function answerCsv({ columns, rows }: QueryResult): string {
  return [columns.map(csvField), ...rows.map((row) => row.map((cell) => (cell === null ? '' : csvField(String(cell)))))]
    .map((fields) => `${fields.join(',')}\r\n`)
    .join('');
}

function isNumeric(rows: readonly (readonly Cell[])[], at: number): boolean {
  return rows.some((row) => typeof row[at] === 'number') && rows.every((row) => typeof row[at] !== 'string');
}

function cellText(cell: Cell): string {
  return cell === null ? 'NULL' : String(cell);
}

function csvField(text: string): string {
  const safe = text
    .split(/(\r?\n|\t)/)
    .map((part) => (/^[\r\n\t]/.test(part) ? part : terminalText(part)))
    .join('');
  return safe === '' || /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
