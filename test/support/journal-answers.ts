import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** As it stands in a journal. */
export interface WrittenAnswer {
  readonly key: string;
  readonly subject: string;
  readonly reply: { readonly usage: object };
}

/** The answers of a journal in the order in which they were written. */
export function writtenAnswers(journal: string): WrittenAnswer[] {
  return filesOf(journal).flatMap(answersIn);
}

/** Writes the answers of a journal anew. */
export function bendAnswers(journal: string, change: (entry: WrittenAnswer) => object): void {
  for (const file of filesOf(journal))
    writeFileSync(
      file,
      answersIn(file)
        .map((entry) => `${JSON.stringify(change(entry))}\n`)
        .join(''),
    );
}

function filesOf(journal: string): string[] {
  const folder = join(journal, 'answers');
  return readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));
}

function answersIn(file: string): WrittenAnswer[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}
