import { withoutHidden } from '../shared/sanitize.ts';
import { followFences } from './block-lines.ts';
import { error, type Spot, type Violation } from './violation.ts';

/** What no file may hold wherever it stands: marks that end something else, and text that no reader would see. */
export function textViolations(spot: Spot, text: string, firstLine = 1): Violation[] {
  const fences = followFences();
  const found = text.split('\n').flatMap((source, index) => {
    const line = source.replace(/\r$/, '');
    return lineViolations(spot, line, firstLine + index, fences.cover(line));
  });
  if (fences.closing() !== null)
    found.push(error(spot, firstLine, 'text.fence', 'A code fence is opened here and never closed.'));
  return found;
}

/** The line without code spans and quoted words: what is shown there is not what is said. */
export function withoutQuotes(line: string): string {
  return line
    .replace(/`[^`]{1,2000}`/g, ' ')
    .replace(/"[^"]{1,2000}"|“[^“”]{1,2000}”|«[^«»]{1,2000}»|„[^„“]{1,2000}“/g, ' ');
}

function lineViolations(spot: Spot, line: string, number: number, fenced: boolean): Violation[] {
  const found: Violation[] = [];
  if (/^(<{7}|>{7}|\|{7})( |$)/.test(line))
    found.push(error(spot, number, 'text.conflict', 'A mark of an unresolved merge conflict stands here.'));
  if (withoutHidden(line) !== line)
    found.push(error(spot, number, 'text.hidden', 'The line has invisible or direction-changing characters.'));
  if (/<\/?commit-to-memory\b/i.test(line))
    found.push(
      error(spot, number, 'text.marker', 'The mark around memory that a session is given cannot stand inside.'),
    );
  if (!fenced && /(?<!\\)<!--/.test(line.replace(/`[^`]{1,2000}`/g, ' ')))
    found.push(error(spot, number, 'text.comment', 'An HTML comment hides text from whoever reviews the page.'));
  return found;
}
