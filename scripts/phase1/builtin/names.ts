import { baseName } from './tasks.ts';
import type { Turn } from './turns.ts';

/** What a session's tool items name: a person who says one of these means this work and not the weather. */
export interface Names {
  /** Paths, their last parts, identifiers and code-like words, as they stand. */
  readonly words: ReadonlySet<string>;
  /** Programs, in lower case. */
  readonly programs: ReadonlySet<string>;
  /** Files that were changed, with their last parts. */
  readonly edited: ReadonlySet<string>;
  /** Code-like words of the changes themselves. */
  readonly written: ReadonlySet<string>;
}

const maxNames = 20_000;
// Programs that are ordinary words too: they count only between backticks.
const ordinary = new Set(
  'at cat clear cut date diff do echo exec find for go head help join kill less make man more mix more move read set sleep sort source split tail tar test time touch tree true type wait watch which who yes'.split(
    ' ',
  ),
);
const codeWord = /[\p{L}\p{N}_$@~.][\p{L}\p{N}_$@~./\\:#=-]{1,119}/gu;

export function namesOf(turns: readonly Turn[]): Names {
  const names = {
    words: new Set<string>(),
    programs: new Set<string>(),
    edited: new Set<string>(),
    written: new Set<string>(),
  };
  for (const turn of turns) {
    for (const look of turn.looks) addWords(names.words, look);
    for (const step of turn.steps) {
      if (step.step === 'command') {
        addWords(names.words, step.line.slice(0, 2_000));
        for (const { program, source } of step.simple)
          names.programs.add(program.toLowerCase()).add(baseName(source.split(' ', 1)[0] ?? '').toLowerCase());
      } else if (step.step === 'edit') {
        for (const file of step.files) names.edited.add(file).add(baseName(file));
        addWords(names.written, step.text);
      }
    }
  }
  return names;
}

/**
 * The names of the session in a person's sentence, each once, in order: what is written like code, stands between
 * backticks, or is a program that ran.
 */
export function namedIn(sentence: string, names: Names): string[] {
  const found = new Set<string>();
  for (const match of sentence.matchAll(/`([^`\n]{1,120})`/g)) {
    const quoted = (match[1] ?? '').trim();
    if (isKnown(quoted, names) || names.programs.has(quoted.split(' ', 1)[0] ?? '')) found.add(quoted);
  }
  for (const match of sentence.matchAll(codeWord)) {
    const word = trimmed(match[0]);
    const lower = word.toLowerCase();
    if (isCodeLike(word) && isKnown(word, names)) found.add(word);
    else if (names.programs.has(lower) && !ordinary.has(lower) && lower.length > 1) found.add(word);
  }
  return [...found];
}

/** Written as nobody writes plain words: a path, an extension, `snake_case`, `camelCase`, `call()`, letters with digits. */
export function isCodeLike(word: string): boolean {
  if (word.length < 3) return false;
  return /[\p{L}\p{N}][_/\\.:#=@$][\p{L}\p{N}]|\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}|^[.~@$][\p{L}]|\/$|^(?=.{0,40}\d)[\p{L}\p{N}]{1,40}\p{L}\d|^[A-Z][A-Z0-9]{0,40}_/u.test(
    word,
  );
}

function addWords(into: Set<string>, text: string): void {
  for (const match of text.matchAll(codeWord)) {
    if (into.size >= maxNames) return;
    const word = trimmed(match[0]);
    if (!isCodeLike(word)) continue;
    into.add(word);
    if (/[/\\]/.test(word)) into.add(baseName(word));
  }
}

function isKnown(word: string, names: Names): boolean {
  const base = baseName(word);
  return [word, base].some((name) => names.words.has(name) || names.edited.has(name) || names.written.has(name));
}

function trimmed(word: string): string {
  return word.replace(/^[.:=#]{1,8}(?=[\p{L}\p{N}_]{0,1}$)|[.:=#\\-]{1,8}$/gu, '');
}
