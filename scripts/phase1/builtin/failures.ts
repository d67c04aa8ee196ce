import { citedItems, type ItemNumber, parseEvidence } from '../../shared/evidence.ts';
import { type Simple, telling } from './commands.ts';
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

export interface Symptom {
  readonly text: string;
  readonly n: ItemNumber;
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

/** What the first and the last failing run said, verbatim, at most two lines; none where it would be a file's words. */
export function symptomsOf(failure: Failure): Symptom[] {
  const first = linesThatSay(failure.failed, failure.again ? 1 : 2);
  const later = failure.again ? linesThatSay(failure.again, 1) : [];
  const said = new Set<string>();
  return [...first, ...later].filter((line) => !said.has(line.text) && said.add(line.text));
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
  const passed = telling(command.simple);
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

function linesThatSay(command: Command, max: number): Symptom[] {
  const n = command.outputN;
  if (n === null) return [];
  const echoed = afterCommand(command);
  if (echoed) return [{ text: echoed, n }];
  if (command.simple.some((simple) => simple.prints)) return [];
  const lines = command.output
    .split('\n')
    .map((line, at) => ({ text: line.trim(), at }))
    .filter((line) => line.text.length > 3 && line.text.length < 2_000 && !holdsEvidence(line.text))
    .map((line) => ({ ...line, score: scoreOf(line.text) }));
  const best = lines.filter((line) => line.score > 0).sort((a, b) => b.score - a.score || a.at - b.at);
  const chosen = best.slice(0, max).sort((a, b) => a.at - b.at);
  const last = lines.findLast((line) => !/^Exit code \d{1,3}$/.test(line.text));
  return (chosen.length > 0 ? chosen : last ? [last] : []).map((line) => ({ text: line.text, n }));
}

/** A refusal that repeats the whole command before it says why: what comes after. */
function afterCommand(command: Command): string | null {
  const line = command.line.trim();
  if (line.length < 8 || line.length > 1_000) return null;
  const at = command.output.indexOf(line);
  if (at < 0) return null;
  const rest = (command.output.slice(at + line.length).split('\n', 1)[0] ?? '').replace(/^[\s'"`:]{1,8}/, '');
  return rest.length > 8 && !holdsEvidence(rest) ? rest.trimEnd() : null;
}

/** Marks that tools print in every locale weigh most; words only choose between lines, they decide nothing. */
function scoreOf(line: string): number {
  if (/^(?:#|\/\/|\*)/.test(line)) return 0;
  if (/\b[A-Za-z.]{0,60}(?:Error|Exception|Panic)\b ?[:(\]]/.test(line)) return 5;
  if (/\berror(?: ?\[?[A-Z]{1,4}\d{1,6}\]?| [A-Z]{2}\d{1,6})?: /i.test(line)) return 4;
  if (/^\S{1,200}[:(]\d{1,6}(?:[:,]\d{1,5})?\)?:? \S/.test(line)) return 4;
  if (/^(?:E {2,8}|✗|✘|×|not ok\b|---? FAIL\b|panic:|fatal:)/.test(line)) return 4;
  if (/\b(?:error|fatal|denied|cannot|refused|not found|No such file)\b/i.test(line)) return 2;
  return /\b(?:FAIL|FAILED|fail(?:ed|ure)?)\b/.test(line) ? 1 : 0;
}

function holdsEvidence(text: string): boolean {
  return citedItems(text).length > 0 || parseEvidence(text).length > 0;
}

function byPlace(steps: readonly Step[]): (a: Failure, b: Failure) => number {
  const place = new Map(steps.map((step, at) => [step, at] as const));
  return (a, b) => (place.get(a.failed) ?? 0) - (place.get(b.failed) ?? 0);
}
