import { formatItems, type ItemNumber } from '../../shared/evidence.ts';
import { telling } from './commands.ts';
import { type Failure, symptomsOf } from './failures.ts';
import type { Signal } from './signals.ts';
import type { Task } from './tasks.ts';
import { code, quote } from './text.ts';
import type { Command, Edit, Stop } from './turns.ts';

/** A line of the record. `value` says what goes first when the record is too long; higher stays longer. */
export interface Bullet {
  readonly text: string;
  readonly value: number;
}

const maxBullets = 8;
const maxItems = 8;

export function signalBullets(signals: readonly Signal[]): Bullet[] {
  return signals.slice(0, maxBullets).map((signal) => {
    const because = signal.because ? ` → ${signal.because}` : '';
    const mark = signal.stands ? '' : ' (candidate)';
    return {
      text: bullet(`${quote(signal.text)}${because}${mark}`, signal.evidence),
      value: (signal.stands ? 20 : 7) + signal.value,
    };
  });
}

/** What failed and what it took: fixes first, each symptom once, the newest first. */
export function failureBullets(task: Task): Bullet[] {
  const said = new Set<string>();
  const bullets: Bullet[] = [];
  for (const failure of task.failures.toReversed()) {
    if (bullets.length >= maxBullets) break;
    const symptoms = symptomsOf(failure, bullets.length === 0 ? 2 : 1);
    const key = symptoms.length > 0 ? symptoms.map((one) => one.text).join('\n') : failure.failed.line;
    if (said.has(key)) continue;
    said.add(key);
    bullets.push(failure.passed ? fixBullet(failure, symptoms, failure.passed) : openBullet(failure, symptoms));
  }
  const ranked = bullets.sort((a, b) => b.value - a.value).map((one, at) => ({ ...one, value: one.value - 4 * at }));
  return [...ranked, ...task.stops.slice(-3).map(stopBullet), ...refusedEdits(task)].slice(0, maxBullets);
}

/** What proved the work, and which files belong together for it. */
export function knowledgeBullets(task: Task): Bullet[] {
  const known = task.checks.filter(({ simple }) => simple.kind !== null);
  const other = task.checks.filter(({ simple }) => simple.kind === null);
  const proofs = [...known.toReversed(), ...other.toReversed()].slice(0, 4).map(({ simple, command }, at) => ({
    text: bullet(`verified with ${code(simple.source)} (exit 0)`, placesOf(command)),
    value: (simple.kind ? 14 : 10) - at,
  }));
  const files = filesOf(task.edits);
  if (files.length === 0) return proofs;
  const shown = files.slice(0, 6).map((file) => code(file.name, 120));
  const more = files.length > shown.length ? ` and ${files.length - shown.length} more` : '';
  const places = files.slice(0, 6).flatMap((file) => file.places.slice(0, 2));
  return [...proofs, { text: bullet(`changed here: ${shown.join(', ')}${more}`, places), value: 12 }];
}

/** Every command that proved or changed something, by its last run, with its exit status. */
export function commandBullets(commands: readonly Command[], max: number): Bullet[] {
  const last = new Map<string, { command: Command; runs: number }>();
  for (const command of commands) {
    const known = last.get(command.line);
    last.delete(command.line);
    last.set(command.line, { command, runs: (known?.runs ?? 0) + 1 });
  }
  return [...last.values()].slice(-max).map(({ command, runs }, at) => {
    const times = runs > 1 ? `, run ${runs} times` : '';
    const exit = command.exit === null ? 'no exit status' : `exit ${command.exit}`;
    return { text: bullet(`${code(command.line)}: ${exit}${times}`, placesOf(command)), value: 4 + at / 100 };
  });
}

/** `- text (@1,2)`, at most eight items, each once. */
export function bullet(text: string, places: readonly ItemNumber[]): string {
  return `- ${text} ${formatItems([...new Set(places)].slice(0, maxItems))}`;
}

export function placesOf(command: Command): ItemNumber[] {
  return command.outputN === null ? [command.n] : [command.n, command.outputN];
}

/** Each changed file once, in the order of its first change. */
export function filesOf(edits: readonly Edit[]): { readonly name: string; readonly places: ItemNumber[] }[] {
  const files = new Map<string, ItemNumber[]>();
  for (const edit of edits)
    for (const file of edit.files) {
      const places = files.get(file) ?? [];
      places.push(edit.n);
      files.set(file, places);
    }
  return [...files].map(([name, places]) => ({ name, places }));
}

type Symptoms = ReturnType<typeof symptomsOf>;

function fixBullet(failure: Failure, symptoms: Symptoms, passed: Command): Bullet {
  const files = filesOf(failure.edits);
  const how =
    files.length > 0
      ? ` → changed ${files
          .slice(0, 4)
          .map((file) => code(file.name, 120))
          .join(', ')}`
      : '';
  const proof = proofOf(failure, passed);
  const verified = proof === failure.failed.line ? 'passed' : `${code(proof)} passed`;
  const places = [
    ...placesOf(failure.failed),
    ...symptoms.map((one) => one.n),
    ...failure.edits.slice(0, 3).map((edit) => edit.n),
  ];
  const text = `${code(failure.failed.line)} failed${said(symptoms)}${how} → ${verified}`;
  return { text: bullet(text, [...places.slice(0, maxItems - 2), ...placesOf(passed)]), value: how ? 18 : 9 };
}

/** Of the passing line, the command that the failure waited for; else the line. */
function proofOf(failure: Failure, passed: Command): string {
  const proved = passed.proves;
  if (proved.length < telling(passed.simple).length || passed.line === failure.failed.line) return passed.line;
  const last = telling(failure.failed.simple).at(-1);
  const same =
    proved.find((simple) => simple.key === last?.key) ?? proved.find((simple) => simple.family === last?.family);
  return same?.source ?? passed.line;
}

function openBullet(failure: Failure, symptoms: Symptoms): Bullet {
  const times = failure.attempts > 1 ? `, ${failure.attempts} times` : '';
  const places = [...placesOf(failure.failed), ...(failure.again ? placesOf(failure.again) : [])];
  const text = `${code(failure.failed.line)} failed${times} and was not seen to pass afterwards${said(symptoms)}`;
  return { text: bullet(text, places), value: 16 };
}

function said(symptoms: Symptoms): string {
  return symptoms.length > 0 ? `: ${symptoms.map((symptom) => quote(symptom.text, 200)).join(', ')}` : '';
}

function stopBullet(stop: Stop): Bullet {
  const what = stop.what ? `: ${code(stop.what)}` : '';
  const text =
    stop.kind === 'denied' ? `refused by the person or the settings${what}` : `interrupted by the person${what}`;
  return { text: bullet(text, stop.call === null ? [stop.n] : [stop.call, stop.n]), value: 15 };
}

/** Changes that failed and were not made later either. */
function refusedEdits(task: Task): Bullet[] {
  const made = new Set(task.edits.flatMap((edit) => edit.files));
  const stopped = new Set(task.stops.map((stop) => stop.call));
  const bullets: Bullet[] = [];
  for (const step of task.steps) {
    if (step.step !== 'edit' || step.made || stopped.has(step.n) || step.outputN === null) continue;
    const [file] = step.files;
    if (!file || made.has(file)) continue;
    made.add(file);
    bullets.push({ text: bullet(`change of ${code(file, 120)} failed`, [step.n, step.outputN]), value: 7 });
  }
  return bullets.slice(0, 3);
}
