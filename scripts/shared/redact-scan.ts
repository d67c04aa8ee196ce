/** Takes each place where something begins that is looked for. */
export interface Hits<Wanted> {
  add(wanted: Wanted, start: number): void;
}

/** Reports every occurrence of every literal, overlapping ones too, by ascending end. One step a character. */
export type Scanner<Wanted> = (text: string, hits: Hits<Wanted>) => void;

/**
 * An Aho-Corasick automaton over UTF-16 code units; ASCII letters match in either case. Empty literals never occur.
 * @param wanted each with the literals that announce it.
 */
export function literalScanner<Wanted extends { readonly literals: readonly string[] }>(
  wanted: readonly Wanted[],
): Scanner<Wanted> {
  const announced = wanted.flatMap((one) => one.literals.map((literal) => ({ one, length: literal.length })));
  const literals = wanted.flatMap((one) => one.literals);
  const { classOf, width } = alphabet(literals);
  const { next, found } = automaton(literals, classOf, width);
  const rows = rowsOf(next, found, width);

  return (text, hits) => {
    let row = 0;
    for (let at = 0; at < text.length; at++) {
      row = rows[row + (classOf[text.charCodeAt(at)] ?? 0)] ?? 0;
      if (row >= 0) continue;
      row = ~row;
      for (const literal of found[row / width] ?? []) {
        const hit = announced[literal];
        if (hit !== undefined) hits.add(hit.one, at + 1 - hit.length);
      }
    }
  };
}

/** The edges with states as places in this table, inverted where a literal ends: one look a character. */
function rowsOf(next: Int32Array, found: readonly (readonly number[] | undefined)[], width: number): Int32Array {
  return next.map((state) => (found[state] === undefined ? state * width : ~(state * width)));
}

/** Class 0 is every character that no literal holds; a letter shares its class with its other case. */
function alphabet(literals: readonly string[]): { classOf: Uint16Array; width: number } {
  const classOf = new Uint16Array(0x1_0000);
  let width = 1;
  for (const literal of literals)
    for (let at = 0; at < literal.length; at++) {
      const code = literal.charCodeAt(at);
      if (classOf[code] !== 0) continue;
      classOf[code] = width;
      const other = otherCase(code);
      if (other !== null) classOf[other] = width;
      width++;
    }
  return { classOf, width };
}

/** `next` holds a row of `width` edges a state; state 0 is the root, and an edge to it is no edge. */
function automaton(literals: readonly string[], classOf: Uint16Array, width: number) {
  const states = 1 + literals.reduce((sum, literal) => sum + literal.length, 0);
  const next = new Int32Array(states * width);
  const found: (readonly number[] | undefined)[] = new Array(states).fill(undefined);
  let made = 1;
  literals.forEach((literal, index) => {
    if (literal === '') return;
    let state = 0;
    for (let at = 0; at < literal.length; at++) {
      const edge = state * width + (classOf[literal.charCodeAt(at)] ?? 0);
      if (next[edge] === 0) next[edge] = made++;
      state = next[edge] ?? 0;
    }
    found[state] = [...(found[state] ?? []), index];
  });
  fillFailures(next, found, width);
  return { next, found };
}

/** Breadth first: where a state has no edge of its own it takes its longest proper suffix's, outputs included. */
function fillFailures(next: Int32Array, found: (readonly number[] | undefined)[], width: number): void {
  const suffixOf = new Map<number, number>();
  const queue: number[] = [];
  for (let edge = 0; edge < width; edge++) {
    const child = next[edge] ?? 0;
    if (child !== 0) {
      suffixOf.set(child, 0);
      queue.push(child);
    }
  }
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head] ?? 0;
    const suffix = suffixOf.get(state) ?? 0;
    const inherited = found[suffix];
    if (inherited !== undefined) found[state] = [...(found[state] ?? []), ...inherited];
    for (let edge = 0; edge < width; edge++) {
      const child = next[state * width + edge] ?? 0;
      const fallback = next[suffix * width + edge] ?? 0;
      if (child === 0) next[state * width + edge] = fallback;
      else {
        suffixOf.set(child, fallback);
        queue.push(child);
      }
    }
  }
}

function otherCase(code: number): number | null {
  if (code >= 0x41 && code <= 0x5a) return code + 0x20;
  if (code >= 0x61 && code <= 0x7a) return code - 0x20;
  return null;
}
