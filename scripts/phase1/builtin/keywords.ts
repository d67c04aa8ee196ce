import { filesOf } from './bullets.ts';
import { symptomsOf } from './failures.ts';
import { type Names, namedIn } from './names.ts';
import { baseName, type Task } from './tasks.ts';

const maxKeywords = 12;

/** Handles to search for: changed files, checks, names of errors, and what the person called by its name. */
export function keywordsOf(tasks: readonly Task[], names: Names): string[] {
  const found = new Set<string>();
  for (const task of tasks) {
    for (const file of filesOf(task.edits).slice(0, 4)) found.add(baseName(file.name));
    for (const { simple } of task.checks.slice(-3)) found.add(simple.family);
    for (const failure of task.failures.slice(-4))
      for (const symptom of symptomsOf(failure, 2)) for (const name of errorNames(symptom.text)) found.add(name);
    for (const turn of task.turns.slice(0, 8))
      for (const name of namedIn((turn.message?.text ?? '').slice(0, 1_000), names).slice(0, 4)) found.add(name);
  }
  const plain = [...found]
    .map((word) => word.replaceAll(/[,\n\r]/g, ' ').trim())
    .filter((word) => word !== '' && word.length <= 60);
  return [...new Set(plain)].slice(0, maxKeywords);
}

/** `ModuleNotFoundError`, `TS2835`, `G304`, `E0308`. */
function errorNames(line: string): string[] {
  return (line.match(/\b(?:[A-Z][A-Za-z]{2,60}(?:Error|Exception)|[A-Z]{1,4}\d{3,5})\b/g) ?? []).slice(0, 2);
}
