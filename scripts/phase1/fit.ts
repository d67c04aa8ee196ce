import { type Line, type Section, textOfLines } from './outline.ts';

/** What goes first where a text is too long: the least telling bullets, of each the last. */
const leastFirst: readonly Section[] = [
  'references',
  'none',
  'steps',
  'personal',
  'knowledge',
  'failures',
  'project',
  'preferences',
];

/** The lines as text within a limit of UTF-8 bytes. Whole bullets go; only then whole lines from the end. */
export function fitLines(lines: readonly Line[], limit: number): string {
  const left = [...lines];
  let over = Buffer.byteLength(textOfLines(left)) - limit;
  for (const section of leastFirst)
    for (let at = left.length - 1; at >= 0 && over > 0; at--) {
      const line = left[at];
      if (line?.kind !== 'bullet' || line.section !== section) continue;
      over -= Buffer.byteLength(`- ${line.text}\n`);
      left.splice(at, 1);
    }
  return wholeLines(textOfLines(left), limit);
}

function wholeLines(text: string, limit: number): string {
  if (Buffer.byteLength(text) <= limit) return text;
  const rows = text.split('\n');
  let bytes = -1;
  const end = rows.findIndex((row) => {
    bytes += Buffer.byteLength(row) + 1;
    return bytes > limit;
  });
  return rows.slice(0, end).join('\n').trim();
}
