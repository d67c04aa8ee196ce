import { citedItems, type ItemNumber, parseEvidence } from '../../shared/evidence.ts';
import { telling } from './commands.ts';
import { type Names, namedIn } from './names.ts';
import { baseName, type Task } from './tasks.ts';
import { isQuestion, linesOf, type Sentence, sentencesOf, wordCount } from './text.ts';
import type { Step, Turn } from './turns.ts';

/** Words of the person that may hold beyond this task. */
export interface Signal {
  /** Verbatim, of one line. */
  readonly text: string;
  /** Its own item, then those that bear it out. */
  readonly evidence: readonly ItemNumber[];
  /** What came of it, or what of the session it names; null where nothing shows that it matters. */
  readonly because: string | null;
  /** Stands on its own: the outcome changed, or it names what was worked with. Else a second session has to say it. */
  readonly stands: boolean;
  /** Higher is worth more. */
  readonly value: number;
}

/** It was answered by work, or it stands: worth a record even where nothing was changed. */
export function isHeard(signal: Signal): boolean {
  return signal.value > 1;
}

const maxSentences = 40;
// How far back a correction can reach.
const turnsBefore = 20;
const maxTurns = 1_000;
const maxSignals = 12;
const maxQuote = 240;
// A request of more than this is a document: a plan or a pasted review, not standing instructions.
const documentSentences = 8;
const documentLength = 1_200;
// A correction is said in a few sentences; what is longer is more likely the next request.
const briefLength = 300;

/** Of the request and the last 1,000 messages: at most twelve, the most valuable first; of equal ones the newest. */
export function signalsOf(task: Task, names: Names): Signal[] {
  const seen = new Set<string>();
  const turns = [...task.turns.slice(0, 1), ...task.turns.slice(1).slice(-maxTurns)];
  const byTurn = turns.map((turn, at) => {
    const before = turns.slice(Math.max(0, at - turnsBefore), at);
    const all = at === 0 ? requestSignals(turn, names) : laterSignals(turn, before, names);
    return all.filter(({ text }) => !seen.has(text.toLowerCase()) && seen.add(text.toLowerCase()));
  });
  return byTurn
    .reverse()
    .flat()
    .sort((a, b) => b.value - a.value)
    .slice(0, maxSignals);
}

/** Sentences beside the task itself. One that names files which the task then changes says how to do the task. */
function requestSignals(turn: Turn, names: Names): Signal[] {
  const { message } = turn;
  if (!message || message.text.length > documentLength) return [];
  const all = sentencesOf(message.text, maxSentences);
  if (all.length > documentSentences) return [];
  const remembers = keepsInMemory(turn);
  const isBrief = message.text.length <= briefLength && !/\n\s{0,40}\n/.test(message.text.trim());
  const sentences = remembers ? all : all.slice(1);
  return sentences.flatMap((sentence) => {
    if (isQuestion(sentence.text) || isForeign(sentence.text)) return [];
    const named = namedIn(sentence.text, names);
    const own = named.filter((name) => !names.edited.has(name) && !names.edited.has(baseName(name)));
    if (remembers)
      return isStatement(sentence.text, 2)
        ? [signalOf(sentence, message.n, 'kept in memory on request', true, 6, [remembers])]
        : [];
    if (named.length > own.length) return [];
    const lasting = own.filter((name) => !names.written.has(name) || names.words.has(name) || isProgram(name, names));
    if (lasting.length > 0) return [signalOf(sentence, message.n, `names ${list(lasting)}`, true, 3)];
    return isBrief && isStatement(sentence.text, 4) ? [signalOf(sentence, message.n, null, false, 1)] : [];
  });
}

/**
 * What the person said after work had been done: a correction if the next turn did something else because of it. What
 * names something beside a question, or in a long message, describes the next work and only may hold beyond it.
 */
function laterSignals(turn: Turn, before: readonly Turn[], names: Names): Signal[] {
  const { message } = turn;
  if (!message) return [];
  const sentences = sentencesOf(message.text, maxSentences).filter((sentence) => !isForeign(sentence.text));
  const change = changeAfter(turn, before);
  const isBrief = message.text.length <= briefLength;
  const tells = isBrief && !sentences.some((sentence) => isQuestion(sentence.text));
  if (change && (isBrief || (change.strong && message.text.length <= documentLength)))
    return joined(message.text, sentences).map((piece) =>
      signalOf(piece, message.n, change.what, true, change.strong ? 6 : 4, change.evidence),
    );
  return sentences.flatMap((sentence) => {
    if (isQuestion(sentence.text) || message.text.length > documentLength) return [];
    const named = namedIn(sentence.text, names);
    if (named.length > 0) return [signalOf(sentence, message.n, `names ${list(named)}`, tells, tells ? 3 : 1)];
    return isBrief && isStatement(sentence.text, 3)
      ? [signalOf(sentence, message.n, null, false, turn.calls > 0 ? 2 : 1)]
      : [];
  });
}

interface Change {
  readonly what: string;
  readonly evidence: readonly ItemNumber[];
  /** Work was stopped or taken back, or a failure went away: more than a further change of the same file. */
  readonly strong: boolean;
}

function changeAfter(turn: Turn, before: readonly Turn[]): Change | null {
  const earlier = before.flatMap((one) => one.steps);
  if (earlier.length === 0) return null;
  const back = turn.steps.find(
    (step) => step.step === 'command' && step.exit === 0 && step.simple.some((simple) => simple.takesBack),
  );
  const again = firstAgain(turn.steps, earlier);
  const fixed = nowPasses(turn.steps, earlier);
  const stop = before.at(-1)?.steps.at(-1);
  const rerun = fixed ? undefined : runAgain(turn.steps, earlier);
  const evidence = [back, again, fixed, rerun].flatMap((step) => (step ? [step.n] : []));
  const what = [
    stop?.step === 'stop' ? (stop.kind === 'denied' ? 'said after a refusal' : 'said after an interruption') : '',
    back?.step === 'command' ? `work taken back` : '',
    again?.step === 'edit' ? `changed again: ${list(again.files)}` : '',
    fixed?.step === 'command' ? 'what failed passes now' : '',
    rerun ? 'what failed was changed and run again' : '',
  ].filter((part) => part !== '');
  if (what.length === 0) return null;
  if (stop?.step === 'stop') evidence.unshift(stop.n);
  return {
    what: what.join(', '),
    evidence,
    strong: stop?.step === 'stop' || back !== undefined || fixed !== undefined,
  };
}

function firstAgain(steps: readonly Step[], earlier: readonly Step[]): Step | undefined {
  const touched = new Set(earlier.flatMap((step) => (step.step === 'edit' && step.made ? step.files : [])));
  return steps.find((step) => step.step === 'edit' && step.made && step.files.some((file) => touched.has(file)));
}

function nowPasses(steps: readonly Step[], earlier: readonly Step[]): Step | undefined {
  const passed = lastResults(earlier);
  return steps.find(
    (step) => step.step === 'command' && step.proves.some((simple) => passed.get(simple.key) === false),
  );
}

/** After a change, a run of what had failed that does not say how it ended: a filter has the last word. */
function runAgain(steps: readonly Step[], earlier: readonly Step[]): Step | undefined {
  const passed = lastResults(earlier);
  const changed = steps.findIndex((step) => step.step === 'edit' && step.made);
  return steps.find(
    (step, at) =>
      at > changed &&
      changed >= 0 &&
      step.step === 'command' &&
      step.exit === 0 &&
      telling(step.simple).some((simple) => passed.get(simple.key) === false),
  );
}

/** Command → whether its last run passed; of a line that failed, its last command did. */
function lastResults(earlier: readonly Step[]): ReadonlyMap<string, boolean> {
  const passed = new Map<string, boolean>();
  for (const step of earlier) {
    if (step.step !== 'command' || step.exit === null) continue;
    const last = telling(step.simple).at(-1);
    if (step.exit === 0) for (const simple of step.proves) passed.set(simple.key, true);
    else if (last) passed.set(last.key, false);
  }
  return passed;
}

/** The change that put the person's words into an agent's own memory or instruction file, if there was one. */
function keepsInMemory(turn: Turn): ItemNumber | null {
  const kept = turn.steps.find(
    (step) =>
      step.step === 'edit' &&
      step.made &&
      step.files.some((file) =>
        /(?:^|\/)(?:\.claude\/.{0,200}\/memory|\.codex\/memories)\/|(?:^|\/)(?:AGENTS|CLAUDE|GEMINI|copilot-instructions)\.md$/.test(
          file,
        ),
      ),
  );
  return kept?.n ?? null;
}

/** Sentences that stand next to each other on a line, together up to the length of a quote. */
function joined(text: string, sentences: readonly Sentence[]): Sentence[] {
  const pieces: Sentence[] = [];
  for (const sentence of sentences) {
    const last = pieces.at(-1);
    const span = last ? text.slice(last.at, sentence.at + sentence.text.length) : '';
    if (last && span.length <= maxQuote && linesOf(span).length === 1)
      pieces[pieces.length - 1] = { text: span, at: last.at };
    else pieces.push(sentence);
  }
  return pieces.slice(0, 4);
}

function signalOf(
  sentence: Sentence,
  n: ItemNumber,
  because: string | null,
  stands: boolean,
  value: number,
  evidence: readonly ItemNumber[] = [],
): Signal {
  return { text: sentence.text, evidence: [...new Set([n, ...evidence])], because, stands, value };
}

/** Text that cites memory comes out of memory: it must not go in again. */
function isForeign(text: string): boolean {
  return citedItems(text).length > 0 || parseEvidence(text).length > 0 || /^<\/?[a-z][\w-]{0,60}[ />]/i.test(text);
}

function isStatement(text: string, minWords: number): boolean {
  return wordCount(text) >= minWords;
}

function isProgram(name: string, names: Names): boolean {
  return names.programs.has(name.toLowerCase());
}

function list(names: readonly string[]): string {
  return names
    .slice(0, 3)
    .map((name) => `\`${name.replaceAll('`', '').slice(0, 80)}\``)
    .join(', ');
}
