import type { Item } from '../../rollout/types.ts';
import type { ItemNumber } from '../../shared/evidence.ts';
import { type Simple, simpleCommands, telling } from './commands.ts';
import { complains } from './symptoms.ts';

/** A shell command and how it ended. */
export interface Command {
  readonly step: 'command';
  readonly n: ItemNumber;
  readonly line: string;
  readonly simple: readonly Simple[];
  /** null while it has no output, when it was stopped or refused, or when the agent does not know how it ended. */
  readonly exit: number | null;
  /**
   * What the run proves by passing: the commands whose exit status is the line's, and, while their output is shown to
   * its end and nothing in it looks like an error, those before a pipe or a semicolon too.
   */
  readonly proves: readonly Simple[];
  readonly output: string;
  readonly outputN: ItemNumber | null;
}

/** A change of files that was made, or refused. */
export interface Edit {
  readonly step: 'edit';
  readonly n: ItemNumber;
  readonly files: readonly string[];
  readonly made: boolean;
  /** The agents' words when it was not. */
  readonly output: string;
  readonly outputN: ItemNumber | null;
  /** The beginning of the patch or arguments. */
  readonly text: string;
}

/** The person stopped the agent or refused a tool. */
export interface Stop {
  readonly step: 'stop';
  readonly n: ItemNumber;
  /** The call that was stopped or refused, if one was running. */
  readonly call: ItemNumber | null;
  readonly what: string;
  readonly kind: 'interrupted' | 'denied';
}

export type Step = Command | Edit | Stop;

/** A person's message and everything up to the next one. */
export interface Turn {
  /** null for what came before the first message. */
  readonly message: Item | null;
  readonly steps: readonly Step[];
  /** Other calls: reads, searches, web, MCP. Their beginnings, for the names in them. */
  readonly looks: readonly string[];
  /** Calls of any kind: the agent did more than talk. */
  readonly calls: number;
  readonly lastWords: Item | null;
}

const maxOutput = 32_000;
const maxCall = 4_000;

/**
 * The session as turns, in order. Items of sub-agents and side files are left out: nobody said them to this session.
 * Linear in the items; outputs are kept by reference, head and tail at most 32,000 characters.
 */
export function turnsOf(items: readonly Item[]): Turn[] {
  const outputs = outputsByCall(items);
  const turns: Building[] = [emptyTurn(null)];
  const stopped = new Set<string>();
  for (const item of items) {
    const turn = turns.at(-1);
    if (!turn || item.who === 'other_agent' || item.n.includes(':')) continue;
    if (item.kind === 'call') addCall(turn, item, outputs.get(item.call ?? '') ?? null, stopped);
    else if (item.kind !== 'text') continue;
    else if (item.who === 'human' && isStatement(item.text)) turns.push(emptyTurn(item));
    else if (item.who === 'assistant') turn.lastWords = item;
    else if (item.who === 'harness' && isInterruption(item.text)) addInterruption(turn, item);
  }
  return turns.filter((turn) => turn.message !== null || turn.steps.length > 0);
}

type Building = { -readonly [key in keyof Turn]: Turn[key] } & { steps: Step[]; looks: string[] };

function emptyTurn(message: Item | null): Building {
  return { message, steps: [], looks: [], calls: 0, lastWords: null };
}

function outputsByCall(items: readonly Item[]): ReadonlyMap<string, Item> {
  const outputs = new Map<string, Item>();
  for (const item of items) if (item.kind === 'output' && item.call) outputs.set(item.call, item);
  return outputs;
}

/** A slash command is typed to the program, not said to the agent. */
function isStatement(text: string): boolean {
  return text.trim() !== '' && !/^\s{0,20}\/[a-z][\w:-]{0,60}\s{0,8}$/i.test(text);
}

function addCall(turn: Building, item: Item, output: Item | null, stopped: Set<string>): void {
  turn.calls += 1;
  const denial = output && isDenial(output.text);
  const aborted = output && isAborted(output.text);
  if (item.does === 'shell') turn.steps.push(commandOf(item, output, Boolean(denial || aborted)));
  else if (item.does === 'edit') turn.steps.push(editOf(item, output));
  else if (item.does !== 'agent') turn.looks.push(item.text.slice(0, maxCall));
  if (!output || !(denial || aborted) || stopped.has(item.call ?? '')) return;
  stopped.add(item.call ?? '');
  const what = item.does === 'edit' ? (item.files?.[0] ?? item.tool ?? '') : item.text.slice(0, maxCall);
  turn.steps.push({ step: 'stop', n: output.n, call: item.n, what, kind: denial ? 'denied' : 'interrupted' });
}

/** The harness's note follows the aborted call, if there was one: both are one interruption. */
function addInterruption(turn: Building, item: Item): void {
  const last = turn.steps.at(-1);
  if (last?.step !== 'stop') turn.steps.push({ step: 'stop', n: item.n, call: null, what: '', kind: 'interrupted' });
}

function commandOf(item: Item, output: Item | null, wasStopped: boolean): Command {
  const simple = simpleCommands(item.text);
  const exit = wasStopped ? null : (output?.exit ?? null);
  const text = output ? headAndTail(output.text) : '';
  return {
    step: 'command',
    n: item.n,
    line: item.text,
    simple,
    exit,
    proves: exit === 0 ? provedBy(simple, text) : [],
    output: text,
    outputN: output?.n ?? null,
  };
}

function provedBy(simple: readonly Simple[], output: string): Simple[] {
  const isFine = !complains(output);
  return telling(simple).filter((one) => one.decides || (isFine && one.shown));
}

function editOf(item: Item, output: Item | null): Edit {
  return {
    step: 'edit',
    n: item.n,
    files: item.files ?? [],
    made: output !== null && (output.exit ?? 0) === 0 && !isDenial(output.text),
    output: output && (output.exit ?? 0) !== 0 ? headAndTail(output.text) : '',
    outputN: output?.n ?? null,
    text: item.text.slice(0, maxCall),
  };
}

function headAndTail(text: string): string {
  if (text.length <= maxOutput) return text;
  return `${text.slice(0, maxOutput / 4)}\n${text.slice(-(maxOutput / 4) * 3)}`;
}

// The agents' own fixed marks, the same in every language: Codex, then Claude Code.
function isInterruption(text: string): boolean {
  return /^\s{0,20}(?:<turn_aborted>|\[Request interrupted by user)/.test(text);
}

function isAborted(text: string): boolean {
  return /(?:^|\n)aborted by user\s{0,8}$/.test(text.slice(-80)) || isInterruption(text.slice(0, 80));
}

function isDenial(text: string): boolean {
  return /^(?:<tool_use_error>)?(?:The user doesn't want to (?:proceed with this tool use|take this action)|Claude requested permissions? to |Permission to use \S{1,60} .{0,200}denied)/.test(
    text.slice(0, 400).trimStart(),
  );
}
