import { type Simple, telling } from './commands.ts';
import { type Symptom, symptomsIn } from './symptoms.ts';
import type { Command, Edit, Step } from './turns.ts';

/** A command that failed, and later passed or never did. */
export interface Failure {
  /** The first run that failed. */
  readonly failed: Command;
  /** The last one, when it is another. */
  readonly again: Command | null;
  readonly attempts: number;
  /** Changes that were made between the first failure and the pass. */
  readonly edits: readonly Edit[];
  readonly passed: Command | null;
}

// A session that loops must not cost more than one that works.
const maxOpen = 64;
const maxEdits = 40;
const maxFailures = 24;

interface Open {
  readonly failed: Command;
  again: Command | null;
  attempts: number;
  readonly edits: Edit[];
  /** Keys that have not passed since. */
  waiting: Set<string>;
  readonly simple: readonly Simple[];
}

/**
 * Pairs each failed command with the run that passed later: the same command, else the same program and word, else,
 * after a change, another command of the same kind. Commands that only look are left out, since `grep` without a match
 * is no failure.
 */
export function failuresOf(steps: readonly Step[]): Failure[] {
  const open = new Map<string, Open>();
  const closed: Failure[] = [];
  for (const step of steps) {
    if (step.step === 'edit' && step.made) addEdit(open, step);
    if (step.step !== 'command' || step.exit === null) continue;
    if (step.exit === 0) closed.push(...close(open, step));
    else fail(open, closed, step);
  }
  const all = [...closed, ...[...open.values()].map((failure) => settled(failure, null))];
  return all.sort(byPlace(steps)).slice(-maxFailures);
}

/**
 * What the first and the last failing run said, verbatim; the same with other numbers counts once.
 * @returns at most `max` lines; none where they would be a file's words.
 */
export function symptomsOf(failure: Failure, max: number): Symptom[] {
  const first = symptomsIn(failure.failed, failure.again ? 1 : max);
  const later = failure.again ? symptomsIn(failure.again, 1) : [];
  const said = new Set<string>();
  return [...first, ...later]
    .filter(({ text }) => {
      const form = text.replace(/\d{1,20}/g, '0').slice(0, 60);
      return !said.has(form) && said.add(form);
    })
    .slice(0, max);
}

function addEdit(open: ReadonlyMap<string, Open>, edit: Edit): void {
  for (const failure of open.values()) if (failure.edits.length < maxEdits) failure.edits.push(edit);
}

function fail(open: Map<string, Open>, closed: Failure[], command: Command): void {
  const simple = telling(command.simple);
  const last = simple.at(-1);
  if (!last) return;
  const known =
    open.get(last.key) ?? [...open.values()].find((other) => other.simple.some((one) => one.key === last.key));
  if (known) {
    known.again = command;
    known.attempts += 1;
    for (const one of simple) known.waiting.add(one.key);
  } else {
    const [oldest] = open;
    if (oldest && open.size >= maxOpen) {
      open.delete(oldest[0]);
      closed.push(settled(oldest[1], null));
    }
    const waiting = new Set(simple.map((one) => one.key));
    open.set(last.key, { failed: command, again: null, attempts: 1, edits: [], waiting, simple });
  }
}

function close(open: Map<string, Open>, command: Command): Failure[] {
  if (open.size === 0) return [];
  const passed = command.proves;
  const closed: Failure[] = [];
  for (const [key, failure] of open) {
    if (!settles(failure, passed)) continue;
    open.delete(key);
    closed.push(settled(failure, command));
  }
  return closed;
}

function settles(failure: Open, passed: readonly Simple[]): boolean {
  for (const one of passed) failure.waiting.delete(one.key);
  if (failure.waiting.size === 0) return true;
  const last = failure.simple.at(-1);
  if (!last) return false;
  if (passed.some((one) => one.key === last.key)) return true;
  if (last.purpose !== 'check') return passed.some((one) => one.family === last.family && one.key !== last.key);
  return passed.some(
    (one) =>
      one.purpose === 'check' &&
      (one.family === last.family || (last.kind !== null && one.kind === last.kind && failure.edits.length > 0)),
  );
}

function settled(failure: Open, passed: Command | null): Failure {
  const { failed, again, attempts, edits } = failure;
  return { failed, again, attempts, edits, passed };
}

function byPlace(steps: readonly Step[]): (a: Failure, b: Failure) => number {
  const place = new Map(steps.map((step, at) => [step, at] as const));
  return (a, b) => (place.get(a.failed) ?? 0) - (place.get(b.failed) ?? 0);
}
