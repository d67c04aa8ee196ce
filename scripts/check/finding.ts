import { byBinary } from '../shared/files.ts';

/** Something that is wrong with the memory or its state. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  /** Such as `reference.exists`. */
  readonly rule: string;
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly message: string;
  /** What to do about it. */
  readonly remedy: string;
  /** Whether it is as wrong where the change is proposed for; absent where nobody compared. */
  readonly isOld?: boolean;
}

/** By path, line and rule; the same said twice is said once. */
export function inOrder(findings: readonly Finding[]): Finding[] {
  const unique = new Map(findings.map((one) => [JSON.stringify([one.path, one.line, one.rule, one.message]), one]));
  return [...unique.values()].sort(
    (a, b) => byBinary(a.path, b.path) || a.line - b.line || byBinary(a.rule, b.rule) || byBinary(a.message, b.message),
  );
}

/** Finds the line, from 1, of places in a text; asked in ascending order it reads the text once. */
export function lineFinder(text: string): (at: number) => number {
  let line = 1;
  let from = 0;
  return (at) => {
    if (at < from) {
      line = 1;
      from = 0;
    }
    for (let next = text.indexOf('\n', from); next >= 0 && next < at; next = text.indexOf('\n', from)) {
      line += 1;
      from = next + 1;
    }
    return line;
  };
}
