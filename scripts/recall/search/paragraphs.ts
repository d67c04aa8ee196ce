import { ownerAt, ownersOf } from './owners.ts';
import { type Passage, plain, worth } from './passage.ts';

/** Paragraphs and bullets of any other Markdown file, such as a skill or a note, each under its heading. */
export function paragraphsOf(path: string, text: string): Passage[] {
  const owner = ownerAt(ownersOf(path, text));
  const lines = text.split('\n').map((line) => line.trim());
  let title = '';
  return lines.flatMap((line, from) => {
    if (heading.test(line)) title = line.replace(heading, '');
    if (isBetween(line) || !(isBetween(lines[from - 1] ?? '') || bullet.test(line))) return [];
    let end = from + 1;
    while (end < lines.length && !isBetween(lines[end] ?? '') && !bullet.test(lines[end] ?? '')) end += 1;
    const body = plain(lines.slice(from, end).join('\n'));
    return [
      { path, from, to: end - 1, scope: owner(from), body, title, keywords: '', appliesTo: path, worth: worth.usual },
    ];
  });
}

const heading = /^#{1,6}[ \t]+/;
const bullet = /^[-*+][ \t]/;

function isBetween(line: string): boolean {
  return line === '' || line === '---' || heading.test(line);
}
