import { terminalText } from '../shared/escape.ts';
import { cut } from '../shared/text-table.ts';

/** Paints text for a terminal. Each brush escapes what it paints, so that no colour but ours reaches the screen. */
export interface Brush {
  plain(text: string): string;
  strong(text: string): string;
  quiet(text: string): string;
  good(text: string): string;
  warn(text: string): string;
  /** One line of at most so many columns. */
  cut(text: string, columns: number): string;
}

export function brushOf(isColoured: boolean): Brush {
  const painted = (code: number) => (text: string) =>
    isColoured && text !== '' ? `\u001b[${code}m${shown(text)}\u001b[0m` : shown(text);
  return {
    plain: shown,
    strong: painted(1),
    quiet: painted(2),
    good: painted(32),
    warn: painted(33),
    cut: (text, columns) => cut(shown(text.slice(0, 4_000).replace(/\s*\n\s*/g, ' ⏎ ')), columns),
  };
}

function shown(text: string): string {
  return text.split('\n').map(terminalText).join('\n  ');
}
