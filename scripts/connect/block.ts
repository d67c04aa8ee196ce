import { MemoryError } from '../shared/errors.ts';
import type { Edit } from './edit.ts';

/**
 * One block between two marks in a file that people and other generators write too; the rest is never touched.
 * @param content Markdown; a mark within it is made harmless.
 */
export function blockEdit(path: string, content: string): Edit {
  const inner = content.replaceAll('<!-- commit-to-memory:', '<!-- commit-to-memory ').trim();
  const block = (eol: string): string => [begin, inner, end].join('\n').replace(/\r?\n/g, eol);
  return {
    path,
    shown: `${block('\n')}\n`,
    isInstalled: (text) => {
      const place = placeIn(text, path);
      return place !== null && text.slice(place.start, place.end) === block(eolOf(text));
    },
    holds: (text) => placeIn(text, path) !== null,
    install: (text) => {
      if (text === null || text === '') return `${block('\n')}\n`;
      const eol = eolOf(text);
      const place = placeIn(text, path);
      if (place !== null) return text.slice(0, place.start) + block(eol) + text.slice(place.end);
      const gap = text.endsWith('\n') ? eol : eol + eol;
      return `${text}${gap}${block(eol)}${eol}`;
    },
    uninstall: (text) => {
      const place = placeIn(text, path);
      if (place === null) return text;
      const before = text.slice(0, place.start);
      const after = text.slice(place.end).replace(/^\r?\n/, '');
      return (after === '' ? before.replace(/(\r?\n)\r?\n$/, '$1') : before) + after;
    },
    structure: () => [],
    isEmpty: (text) => text.trim() === '',
  };
}

/** A file holds a block of ours. */
export function hasBlock(text: string): boolean {
  return text.includes(beginSign);
}

const beginSign = '<!-- commit-to-memory:begin';
const begin = `${beginSign} (generated: npm run connect -- agents-md) -->`;
const end = '<!-- commit-to-memory:end -->';

interface Place {
  readonly start: number;
  readonly end: number;
}

/** @throws MemoryError for half a block or two of them: where one ends cannot be told. */
function placeIn(text: string, path: string): Place | null {
  const begins = [...text.matchAll(/<!-- commit-to-memory:begin[^\n]*?-->/g)];
  const ends = [...text.matchAll(/<!-- commit-to-memory:end -->/g)];
  const [first] = begins;
  const [last] = ends;
  if (first === undefined && last === undefined) return null;
  if (first === undefined || last === undefined || begins.length + ends.length > 2 || last.index < first.index) {
    const lines = [...begins, ...ends]
      .map(({ index }) => text.slice(0, index).split('\n').length)
      .sort((a, b) => a - b);
    throw new MemoryError(
      `The marks of commit-to-memory in ${path} (line ${lines.join(', ')}) are no single block, so it was left as it is.`,
      'Leave one begin mark and one end mark, or none, then run it again.',
    );
  }
  return { start: first.index, end: last.index + last[0].length };
}

function eolOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
