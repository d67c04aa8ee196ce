import { terminalText } from './escape.ts';

export interface TableColumn {
  readonly name: string;
  readonly align: 'left' | 'right';
}

/**
 * Columns side by side for a terminal, two spaces between them. Cells are escaped and, where they are wider, cut with
 * `…`; a line break shows as `⏎`. CJK characters and emoji count as two.
 * @param widest columns of the terminal that a cell may take, at least 2.
 * @returns the head first.
 */
export function textTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  widest: number,
): string[] {
  const cells = [columns.map(({ name }) => name), ...rows].map((row) => row.map((cell) => cut(shown(cell), widest)));
  const widths = columns.map((_, at) => cells.reduce((most, row) => Math.max(most, displayWidth(row[at] ?? '')), 0));
  return cells.map((row) =>
    columns
      .map(({ align }, at) => padded(row[at] ?? '', widths[at] ?? 0, align))
      .join('  ')
      .trimEnd(),
  );
}

/** Columns that a terminal gives the text: none for a combining mark, two for a wide character. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** The text in at most `width` columns, with `…` where something is missing. */
export function cut(text: string, width: number): string {
  if (text.length <= width / 2 || displayWidth(text) <= width) return text;
  let kept = '';
  let used = 1;
  for (const character of text) {
    used += widthOf(character);
    if (used > width) break;
    kept += character;
  }
  return `${kept}…`;
}

/** Far more of a cell than any terminal shows is not even looked at. */
const looked = 4_000;

function shown(cell: string): string {
  return terminalText(cell.slice(0, looked).replace(/\r?\n/g, ' ⏎ ').replace(/\t/g, ' '));
}

function padded(text: string, width: number, align: TableColumn['align']): string {
  const space = ' '.repeat(Math.max(0, width - displayWidth(text)));
  return align === 'right' ? space + text : text + space;
}

function widthOf(character: string): number {
  if (/\p{Mn}|\p{Me}/u.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

// @source Unicode's EastAsianWidth.txt: wide and full-width blocks, and the emoji that terminals draw as two columns
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]/u;
