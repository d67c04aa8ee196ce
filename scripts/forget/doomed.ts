import { type Doomed, doomedSoFar } from '../phase2/doomed.ts';
import type { ItemNumber } from '../shared/evidence.ts';
import type { State } from '../state/database.ts';
import { lineHash, normaliseLine } from '../workspace/lines.ts';
import { wordsOf } from './words.ts';

/** An item that goes, with what makes its copies known where its session is at hand. */
export interface DoomedItem {
  readonly thread: string;
  readonly n: ItemNumber;
  /** Repository id of its session. */
  readonly repo: string;
}

/** What is to be forgotten, as it was found. */
export interface Chosen {
  /** Whole sessions, by id. */
  readonly threads: ReadonlySet<string>;
  readonly items: readonly DoomedItem[];
  /** Items of sessions at hand whose copies in other sessions go as well. */
  readonly copies: readonly { readonly at: number | null; readonly text: string }[];
  readonly author: string | null;
  /** The words of a match. */
  readonly words: readonly string[];
  /** The words of a line, which goes wherever it stands as a line. */
  readonly lines: readonly string[];
}

/** What is chosen now with what was asked for earlier: so a run that died is finished by the next. */
export function doomedOf(state: State, chosen: Chosen): Doomed {
  const lines = new Set(chosen.lines.map(lineHash));
  const long = chosen.lines.map(normaliseLine).filter((line) => line.length >= quotable);
  return {
    ...doomedSoFar(state, chosen),
    says: wordsOf(chosen.words).stand,
    isLine: (text) => lines.has(lineHash(text)) || long.some((line) => normaliseLine(text).includes(line)),
  };
}

/** Characters from which on a line that holds another quotes it. */
const quotable = 24;
