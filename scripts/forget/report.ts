import { isoTime } from '../shared/clock.ts';
import { jsonText, terminalText } from '../shared/escape.ts';
import type { Step } from './advice.ts';
import type { Requested } from './request.ts';
import type { Forgotten, Reach } from './run.ts';
import type { Target } from './target.ts';
import type { Leftover } from './verify.ts';

/** What happened to one place where it stood. */
export interface Surface {
  readonly surface: string;
  readonly what: string;
}

/** Counts by surface; no word of what is forgotten. */
export function reachOf({ chosen, applied }: Reach): Surface[] {
  const { rows, lines, tombstones } = applied;
  const files = [...lines].sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    {
      surface: 'sessions',
      what: `${counted(chosen.threads.size, 'session')} whole, ${counted(chosen.items.length, 'item')} of others`,
    },
    {
      surface: 'state',
      what: `${counted(rows.threads, 'thread')}, ${counted(rows.outputs, 'output')}, ${counted(rows.evidence, 'evidence row')}, ${counted(rows.citations, 'citation')}`,
    },
    { surface: 'tombstones', what: `${tombstones} new` },
    ...files.map(([path, count]) => ({ surface: terminalText(path), what: counted(count, 'line') })),
  ];
}

export function goneOf(forgotten: Forgotten): Surface[] {
  const { commits, branch, sessions, files, pullRequest } = forgotten;
  const at = commits.inputs === null ? 'nothing of it stood there' : `at ${(commits.tip ?? '').slice(0, 12)}`;
  const request = pullRequest === null || commits.inputs === null ? '' : `, pull request ${pullRequest.number}`;
  return [
    { surface: 'refs/memory/state', what: `${(commits.state ?? 'none').slice(0, 12)}, written without its history` },
    { surface: terminalText(branch.replace('refs/heads/', '')), what: `${at}${request}` },
    ofSessions(sessions),
    {
      surface: 'this machine',
      what: `${counted(files.length, 'file')} of journal, hand-overs and notes dropped or cut`,
    },
  ];
}

function ofSessions({ threads, items, notes }: Forgotten['sessions']): Surface {
  return {
    surface: 'rollouts',
    what: `${counted(threads.length, 'session')} dropped, ${counted(items.length, 'session')} without items, ${counted(notes.length, 'note')} dropped or cut`,
  };
}

export function requestText({ by, until, sessions }: Requested): string {
  return [
    `Asked for: a night is at work (${terminalText(by)}), and may be until ${isoTime(until)}.`,
    ...table([ofSessions(sessions)]),
    'No laptop sends it again. The night starts over without it before it pushes, and every later one obeys as well.',
    'Run this very command again when the night has ended: rows, lines and their history go then.',
  ].join('\n');
}

export function requestJson(target: Target, request: Requested): string {
  const { by, until, sessions } = request;
  return jsonText({
    outcome: 'requested',
    target: target.kind,
    reach: reachOf(request),
    gone: [ofSessions(sessions)],
    night: { worker: by, until: isoTime(until) },
  });
}

export function previewText(target: Target, reach: Reach): string {
  const rows = reachOf(reach);
  const isNothing = reach.chosen.threads.size + reach.chosen.items.length + reach.applied.lines.size === 0;
  return [
    `This is what would be forgotten (${target.kind}); nothing is changed yet.`,
    ...table(rows),
    ...(isNothing
      ? ['Nothing of it stands in the memory, the state or the sessions today; it would still be kept from coming.']
      : []),
    ...mixedText(reach),
    'Forget it: the same command with --yes.',
  ].join('\n');
}

export function forgottenText(forgotten: Forgotten, run: readonly Step[], others: readonly string[]): string {
  const { leftovers } = forgotten;
  return [
    leftovers.length === 0
      ? 'Forgotten: no ref holds it any more.'
      : `Forgotten; ${counted(leftovers.length, 'place')} still hold it.`,
    '',
    'Gone',
    ...table(goneOf(forgotten)),
    ...(leftovers.length === 0 ? [] : ['', 'Still there', ...leftovers.slice(0, mostShown).map(leftoverText)]),
    ...(leftovers.length > mostShown ? [`  and ${leftovers.length - mostShown} more: --json`] : []),
    ...(run.length === 0 ? [] : ['', 'To do, in this order', ...run.flatMap(stepText)]),
    '',
    'Out of reach',
    ...others.map((line) => `  ${line}`),
  ].join('\n');
}

export function forgetJson(
  target: Target,
  outcome:
    | { readonly reach: Reach }
    | { readonly forgotten: Forgotten; readonly steps: readonly Step[]; readonly others: readonly string[] },
): string {
  if ('reach' in outcome) return jsonText({ outcome: 'preview', target: target.kind, reach: reachOf(outcome.reach) });
  const { forgotten, steps, others } = outcome;
  return jsonText({
    outcome: 'forgotten',
    target: target.kind,
    reach: reachOf(forgotten),
    gone: goneOf(forgotten),
    pullRequest: forgotten.pullRequest,
    leftovers: forgotten.leftovers,
    steps,
    elsewhere: others,
  });
}

const mostShown = 40;

/** Lines that rest on further sessions stay, and a person has to judge them. */
function mixedText({ applied, chosen }: Reach): string[] {
  if (chosen.threads.size === 0 || applied.lines.size === 0) return [];
  return [
    'Lines that other sessions back as well stay, without this one’s marks: read them, and name what has to go with --line.',
  ];
}

function leftoverText({ ref, remote, commit, commits, path, form }: Leftover): string {
  const place = path === null ? 'the text of the commit or tag itself' : terminalText(path);
  const many = commits === 1 ? '' : ` and ${commits - 1} more commits`;
  return `  ${remote ? 'origin ' : ''}${terminalText(ref)}  ${commit.slice(0, 12)}${many}  ${place}  (${form})`;
}

function stepText({ why, commands }: Step, index: number): string[] {
  return [
    `  ${index + 1}. ${why}${commands.length === 0 ? '' : ':'}`,
    ...commands.map((command) => `       ${command}`),
  ];
}

function table(rows: readonly Surface[]): string[] {
  const width = Math.max(...rows.map(({ surface }) => surface.length));
  return rows.map(({ surface, what }) => `  ${surface.padEnd(width)}  ${what}`);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
