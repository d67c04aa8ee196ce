import { isAbsolute, relative, resolve, sep } from 'node:path';
import { MemoryError, UsageError } from '../shared/errors.ts';
import type { Files } from '../shared/files.ts';
import { pathFault } from '../shared/safe-path.ts';
import { normaliseLine } from '../workspace/lines.ts';
import { indexTexts } from '../workspace/near.ts';
import { filesByRank, linesOf, type MemoryLine } from './lines.ts';

/** What somebody asks about. */
export type Question =
  | { readonly kind: 'text'; readonly text: string }
  /** `line` counts from 1. */
  | { readonly kind: 'place'; readonly path: string; readonly line: number };

export type Found =
  | { readonly outcome: 'one'; readonly line: MemoryLine }
  | { readonly outcome: 'several'; readonly lines: readonly MemoryLine[] }
  /** `near` says nearly the same, the nearest first. */
  | { readonly outcome: 'none'; readonly near: readonly MemoryLine[] };

/** Where the person stands: a path may be relative to it, to the repository's root or to `memories/`. */
export interface Standpoint {
  readonly cwd: string;
  readonly workTree: string | null;
  readonly files: Files;
}

/**
 * `<file>:<line>` names a place where the file is one of the memory's or looks like one; anything else is words.
 * @throws UsageError for nothing, and for a place outside `memories/`.
 */
export function parseQuestion(text: string, standpoint: Standpoint): Question {
  if (!/[\p{L}\p{N}]/u.test(normaliseLine(text)))
    throw new UsageError('There is nothing to look for.', 'Give words of a line, or a place: memories/MEMORY.md:12.');
  const match = /^(\S.{0,4000}?):(\d{1,7})(?::\d{1,7})?$/su.exec(text.trim());
  const [, name, number] = match ?? [];
  if (name === undefined || number === undefined) return { kind: 'text', text };
  const path = memoryPath(name, standpoint);
  if (path !== null) return { kind: 'place', path, line: Number(number) };
  if (!/\.md$/.test(name) || /\s/.test(name)) return { kind: 'text', text };
  throw new MemoryError(`There is no memory file ${name}.`, 'Name one below memories/, such as memories/MEMORY.md:12.');
}

/**
 * The line that is meant. Words are looked for in the handbook first, then in skills, in the summary and in the files
 * that code makes: the first kind of file that holds them answers. Equal words go before words that hold them.
 */
export function findLine(question: Question, files: Files): Found {
  return question.kind === 'place' ? atPlace(question, files) : byWords(question.text, files);
}

/** Lines that are listed where several match, or nearly. */
export const listedLines = 10;

function memoryPath(name: string, { cwd, workTree, files }: Standpoint): string | null {
  const plain = name.replace(/^\.\//, '');
  const inTree = workTree === null ? null : relative(workTree, resolve(cwd, name)).split(sep).join('/');
  const named = isAbsolute(name) ? [inTree] : [plain, inTree, `memories/${plain}`];
  return named.find((path) => path !== null && pathFault(path) === null && files.has(path)) ?? null;
}

function atPlace({ path, line }: { path: string; line: number }, files: Files): Found {
  const text = files.get(path) ?? '';
  const count = text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
  if (line < 1 || line > count)
    throw new MemoryError(`${path} has no line ${line}: it ends with line ${count}.`, 'Name a line that it has.');
  const lines = linesOf(path, text);
  const at = lines.find((each) => line >= each.line && line < each.line + each.raw.split('\n').length);
  if (at !== undefined) return { outcome: 'one', line: at };
  const near = [lines.findLast((each) => each.line < line), lines.find((each) => each.line > line)];
  return { outcome: 'none', near: near.filter((each) => each !== undefined) };
}

function byWords(text: string, files: Files): Found {
  const words = normaliseLine(text);
  const groups = filesByRank(files).map((paths) => paths.flatMap((path) => linesOf(path, files.get(path) ?? '')));
  for (const lines of groups) {
    const equal = lines.filter((line) => line.words === words);
    const matches = equal.length > 0 ? equal : lines.filter((line) => line.words.includes(words));
    const [only] = matches;
    if (only !== undefined)
      return matches.length === 1 ? { outcome: 'one', line: only } : { outcome: 'several', lines: matches };
  }
  return { outcome: 'none', near: nearest(words, groups.slice(0, -1).flat()) };
}

/** Words that two lines share, of all that either has, to be worth a suggestion. */
const leastShare = 0.12;

function nearest(words: string, lines: readonly MemoryLine[]): MemoryLine[] {
  const index = indexTexts(
    lines.map((line) => line.words),
    leastShare,
  );
  return index
    .of(words)
    .flatMap((at) => lines[at] ?? [])
    .slice(0, 5);
}
