import { markdownText } from '../shared/escape.ts';
import { byBinary } from '../shared/files.ts';
import { everywhere } from '../workspace/layout.ts';

/** `1,234,567` */
export function grouped(n: number): string {
  return String(n).replace(/\B(?=(?:\d{3}){1,6}$)/g, ',');
}

/** `1 line`, `1,200 lines` */
export function whole(n: number, one: string, many = `${one}s`): string {
  return `${grouped(n)} ${n === 1 ? one : many}`;
}

/** What to say of a count; nothing of none. */
export function count(n: number, say: (n: number) => string): string[] {
  return n > 0 ? [say(n)] : [];
}

export function joined(parts: readonly string[]): string {
  return parts.join(', ');
}

/** `12 lines learned`, `3 changed`: the noun stands once. */
export function counted(counts: {
  readonly learned: number;
  readonly changed: number;
  readonly superseded: number;
  readonly forgotten: number;
  readonly moved: number;
}): string[] {
  const named = (['learned', 'changed', 'superseded', 'forgotten', 'moved'] as const).filter(
    (name) => counts[name] > 0,
  );
  return named.map((name, index) =>
    index === 0 ? `${whole(counts[name], 'line')} ${name}` : `${grouped(counts[name])} ${name}`,
  );
}

/** A scope's name in Markdown. */
export function scopeName(scope: string): string {
  if (scope === everywhere) return 'all repositories';
  return scope === '' ? 'no repository' : markdownText(short(scope));
}

/** `rule 3, other 1`: the commonest first, eight at most. */
export function rulesText(counts: Readonly<Record<string, number>>): string {
  const sorted = Object.entries(counts)
    .filter(([, n]) => n > 0)
    .sort(([a, x], [b, y]) => y - x || byBinary(a, b));
  const shown = sorted.slice(0, 8).map(([rule, n]) => `${markdownText(short(rule))} ${grouped(n)}`);
  return joined([...shown, ...count(sorted.length - shown.length, (n) => `${grouped(n)} more rules`)]);
}

/** A name of any origin at a bearable length, no character cut in two. */
export function short(name: string): string {
  const characters = [...name.slice(0, 400)];
  return characters.length <= 120 ? name.slice(0, 400) : `${characters.slice(0, 119).join('')}…`;
}

/** Whole entries from the front, as many as the characters allow. */
export function fit(entries: readonly string[], budget: number): { lines: readonly string[]; more: number } {
  let used = 0;
  const end = entries.findIndex((entry) => {
    used += entry.length + 2;
    return used > budget;
  });
  const lines = end === -1 ? entries : entries.slice(0, end);
  return { lines, more: entries.length - lines.length };
}
