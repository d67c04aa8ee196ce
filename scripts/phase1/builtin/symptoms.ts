import { citedItems, type ItemNumber, parseEvidence } from '../../shared/evidence.ts';
import type { Simple } from './commands.ts';
import { linesOf } from './text.ts';

export interface Symptom {
  readonly text: string;
  readonly n: ItemNumber;
}

/** What is known of a command that ran. */
export interface Run {
  readonly line: string;
  readonly simple: readonly Simple[];
  readonly output: string;
  readonly outputN: ItemNumber | null;
}

/** The lines of a failed run that say what went wrong, verbatim; none where they would be a file's words. */
export function symptomsIn(command: Run, max: number): Symptom[] {
  const n = command.outputN;
  if (n === null) return [];
  const echoed = afterCommand(command);
  if (echoed) return [{ text: echoed, n }];
  if (command.simple.some((simple) => simple.prints)) return [];
  const lines = linesOf(command.output)
    .map((line, at) => ({ text: line.trim(), at }))
    .filter((line) => line.text.length > 3 && line.text.length < 2_000 && !holdsEvidence(line.text))
    .map((line) => ({ ...line, score: scoreOf(line.text) }));
  const best = lines
    .filter((line) => line.score > 0)
    .sort((a, b) => b.score - a.score || (a.score < sure ? b.at - a.at : a.at - b.at));
  const chosen = best
    .filter((line) => line.score >= Math.min(sure, best[0]?.score ?? 0))
    .slice(0, max)
    .sort((a, b) => a.at - b.at);
  const last = lines.findLast((line) => !/^Exit code \d{1,3}$/.test(line.text));
  return (chosen.length > 0 ? chosen : last ? [last] : []).map((line) => ({ text: line.text, n }));
}

/** Whether any line of an output looks like an error's: then an exit status that belongs to a filter proves nothing. */
export function complains(output: string): boolean {
  return linesOf(output).some((line) => line.length < 2_000 && scoreOf(line.trim()) > 1);
}

/** A refusal that repeats the whole command before it says why: what comes after. */
function afterCommand(command: Run): string | null {
  const line = command.line.trim();
  if (line.length < 8 || line.length > 1_000) return null;
  const at = command.output.indexOf(line);
  if (at < 0) return null;
  const rest = (linesOf(command.output.slice(at + line.length, at + line.length + 2_000))[0] ?? '').replace(
    /^[\s'"`:]{1,8}/,
    '',
  );
  return rest.length > 8 && !holdsEvidence(rest) ? rest.trimEnd() : null;
}

// From here on a line is an error's by its form, and the first one counts; below, by a word, and the last one does.
const sure = 4;

/** Marks that tools print in every locale weigh most; words only choose between lines, they decide nothing. */
function scoreOf(raw: string): number {
  const line = raw.replace(/^(?:\[[\w:.-]{1,40}\] ?){1,3}/, '');
  if (/\b[A-Za-z.]{0,60}(?:Error|Exception|Panic)\b ?[:(\]]/.test(line)) return 5;
  if (/^(?:\/\/|\*|#(?! fail [1-9]))/.test(line)) return 0;
  if (/\berror(?: ?\[?[A-Z]{1,4}\d{1,6}\]?)?: /i.test(line)) return 4;
  if (/^[\w./\\@~+-]{1,200}[:(]\d{1,6}(?:[:,]\d{1,5})?\)?:? \S/.test(line)) return 4;
  if (/^(?:E {2,8}|✗|✘|×|not ok\b|-{0,3} ?FAIL\b(?! ?\()|panic:|fatal:)/.test(line)) return 4;
  if (/\b(?:error|fatal|denied|cannot|refused|not found|No such file)\b/i.test(line)) return 2;
  if (/^FAILED\b/.test(line)) return 3;
  return /\b(?:FAIL|FAILED|fail(?:ed|ure)?)\b/.test(line) ? 1 : 0;
}

function holdsEvidence(text: string): boolean {
  return citedItems(text).length > 0 || parseEvidence(text).length > 0;
}
