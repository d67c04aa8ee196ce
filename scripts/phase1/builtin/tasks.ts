import { type Simple, telling } from './commands.ts';
import { type Failure, failuresOf } from './failures.ts';
import { isQuestion, sentencesOf } from './text.ts';
import type { Command, Edit, Step, Stop, Turn } from './turns.ts';

export type Outcome = 'success' | 'partial' | 'uncertain' | 'fail';

/** One thing that the person asked for, with the turns that went into it. */
export interface Task {
  readonly turns: readonly Turn[];
  readonly steps: readonly Step[];
  /** Changes that were made and not taken back. */
  readonly edits: readonly Edit[];
  readonly failures: readonly Failure[];
  readonly stops: readonly Stop[];
  /** Commands that passed and prove something, by their last run, in order. */
  readonly checks: readonly Check[];
  readonly outcome: Outcome;
}

export interface Check {
  readonly simple: Simple;
  readonly command: Command;
}

const maxTasks = 4;

/**
 * The session as tasks. A message opens a new one when its turn changes files and none of them was named or touched
 * before in the task, unless the agent was just stopped: what goes on with the same files is the same task.
 * @returns at most four; what comes later belongs to the last.
 */
export function tasksOf(turns: readonly Turn[]): Task[] {
  const groups: Turn[][] = [];
  let known = new Set<string>();
  for (const turn of turns) {
    const group = groups.at(-1);
    const wasStopped = group?.at(-1)?.steps.at(-1)?.step === 'stop';
    if (!group || (groups.length < maxTasks && !wasStopped && opensTask(turn, known))) {
      groups.push([turn]);
      known = new Set();
    } else group.push(turn);
    addNames(known, turn);
  }
  return groups.map(taskOf);
}

/** The last part of a path: what one file is called from any folder. */
export function baseName(path: string): string {
  return path.split(/[/\\]/).at(-1) ?? path;
}

function opensTask(turn: Turn, known: ReadonlySet<string>): boolean {
  const files = turn.steps.flatMap((step) => (step.step === 'edit' && step.made ? step.files : []));
  if (files.length === 0 || files.some((file) => known.has(baseName(file)))) return false;
  return known.size > 0 && !answersQuestion(turn);
}

/** Nothing but a question is a talk about the task at hand, whatever is changed on the way. */
function answersQuestion(turn: Turn): boolean {
  const sentences = sentencesOf(turn.message?.text ?? '', 4);
  return sentences.length > 0 && sentences.length < 4 && sentences.every((sentence) => isQuestion(sentence.text));
}

function addNames(known: Set<string>, turn: Turn): void {
  for (const step of turn.steps) {
    if (step.step === 'edit') for (const file of step.files) known.add(baseName(file));
    if (step.step === 'command') addPaths(known, step.line.slice(0, 2_000));
  }
  for (const look of turn.looks) addPaths(known, look);
}

function addPaths(known: Set<string>, text: string): void {
  for (const match of text.matchAll(/[\p{L}\p{N}_@.-]{1,80}\.[A-Za-z][A-Za-z0-9]{0,7}\b/gu)) known.add(match[0]);
}

function taskOf(turns: readonly Turn[]): Task {
  const steps = turns.flatMap((turn) => turn.steps);
  const failures = failuresOf(steps);
  const stops = steps.filter((step) => step.step === 'stop');
  const checks = lastRuns(steps.filter((step) => step.step === 'command'));
  return {
    turns,
    steps,
    edits: standingEdits(steps),
    failures,
    stops,
    checks,
    outcome: outcomeOf(turns, steps, failures, checks),
  };
}

/** A file that `git checkout -- file` or the like puts back is not changed by what came before. */
function standingEdits(steps: readonly Step[]): Edit[] {
  const kept: Edit[] = [];
  const backLater = new Set<string>();
  for (const step of steps.toReversed()) {
    if (step.step === 'command' && step.exit === 0)
      for (const simple of step.simple)
        if (simple.takesBack) for (const word of simple.key.split(' ').slice(2, 40)) backLater.add(word);
    if (step.step !== 'edit' || !step.made) continue;
    const files = step.files.filter((file) => !backLater.has(file) && !isAgentsOwn(file));
    if (files.length > 0) kept.push({ ...step, files });
  }
  return kept.reverse();
}

/** Where agents keep their own notes and plans: no part of the work. */
function isAgentsOwn(file: string): boolean {
  return /^~\/(?:\.(?:claude|codex|copilot|gemini|pi)|\.local\/share\/opencode)\//.test(file);
}

function lastRuns(commands: readonly Command[]): Check[] {
  const last = new Map<string, Check>();
  for (const command of commands)
    for (const simple of command.proves) {
      if (simple.purpose !== 'check') continue;
      last.delete(simple.key);
      last.set(simple.key, { simple, command });
    }
  return [...last.values()];
}

/** Spec §5.1's triage, from structure alone: what was proved last counts, and only what was proved. */
function outcomeOf(
  turns: readonly Turn[],
  steps: readonly Step[],
  failures: readonly Failure[],
  checks: readonly Check[],
): Outcome {
  const lastStop = steps.findLastIndex((step) => step.step === 'stop');
  if (lastStop >= 0 && steps.slice(lastStop + 1).every((step) => !changes(step))) return 'partial';
  const last = steps
    .filter((step) => step.step === 'command')
    .findLast((step) => step.exit !== null && telling(step.simple).length > 0);
  const openCheck = failures.some((failure) => failure.passed === null && isCheck(failure.failed));
  if (last && last.exit !== 0 && openCheck) return 'fail';
  if (openCheck) return checks.length > 0 || (last && isCheck(last)) ? 'partial' : 'fail';
  const wasAnswered = turns.length < 2 || (turns.at(-1)?.steps.length ?? 0) > 0 || (turns.at(-1)?.calls ?? 0) > 0;
  if (!wasAnswered && turns.some((turn) => turn.steps.length > 0)) return 'partial';
  const lastEdit = steps.findLastIndex((step) => step.step === 'edit' && step.made);
  const lastCheck = steps.findLastIndex(
    (step) => step.step === 'command' && step.proves.some((simple) => simple.purpose === 'check'),
  );
  return lastCheck > lastEdit && lastCheck >= 0 ? 'success' : 'uncertain';
}

function changes(step: Step): boolean {
  return step.step === 'edit'
    ? step.made
    : step.step === 'command' && step.exit === 0 && telling(step.simple).length > 0;
}

function isCheck(command: Command): boolean {
  return command.simple.some((simple) => simple.purpose === 'check');
}
