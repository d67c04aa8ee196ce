import type { Thread } from '../../rollout/types.ts';
import { formatItems } from '../../shared/evidence.ts';
import {
  type Bullet,
  bullet,
  commandBullets,
  failureBullets,
  filesOf,
  knowledgeBullets,
  signalBullets,
} from './bullets.ts';
import { type Block, fit } from './fit.ts';
import { keywordsOf } from './keywords.ts';
import type { Names } from './names.ts';
import type { Signal } from './signals.ts';
import type { Outcome, Task } from './tasks.ts';
import { code, quote } from './text.ts';
import { inShort, openingOf, titleOf } from './titles.ts';

export interface TaskRecord {
  readonly task: Task;
  readonly signals: readonly Signal[];
}

// A row of the state is at most 6 KB, both texts, as JSON, and their columns together.
const maxRaw = 2_500;
const maxSummary = 2_900;

/** Both texts of a session, in the formats of spec §5.1, each within its bound: what is worth least is left out first. */
export function renderRecord(
  thread: Thread,
  tasks: readonly TaskRecord[],
  names: Names,
): { raw: string; summary: string } {
  const all = tasks.map(({ task }) => task);
  const group = thread.repo === 'none' ? thread.cwd : thread.repo;
  const rawBlocks = tasks.map((entry, at) => rawBlock(entry, at, group, thread));
  const summaryBlocks = tasks.map((entry, at) => summaryBlock(entry, at, thread));
  return {
    raw: fit(frontMatter(thread, all, group, names), rawBlocks, maxRaw),
    summary: fit(summaryHead(thread, all), summaryBlocks, maxSummary),
  };
}

function frontMatter(thread: Thread, tasks: readonly Task[], group: string, names: Names): string {
  const [first] = tasks;
  return [
    '---',
    `description: ${yamlText(inShort(tasks, thread))}`,
    `task: ${yamlText(first ? titleOf(first, thread) : '')}`,
    `task_group: ${yamlText(group)}`,
    `task_outcome: ${outcomeOfAll(tasks)}`,
    `cwd: ${yamlText(thread.cwd)}`,
    `keywords: ${yamlText(keywordsOf(tasks, names).join(', '))}`,
    '---',
  ].join('\n');
}

function summaryHead(thread: Thread, tasks: readonly Task[]): string {
  const branch = thread.branch ? `, branch ${code(thread.branch, 80)}` : '';
  const commit = thread.commit ? `, commit ${code(thread.commit.slice(0, 12))}` : '';
  const place = `${thread.agent} (${thread.origin}) in ${code(thread.cwd, 120)} of ${code(thread.repo, 120)}`;
  return [
    `# ${inShort(tasks, thread)}`,
    '',
    `Rollout context: ${place}${branch}${commit}; written by rules from the session's structure, without a model.`,
  ].join('\n');
}

function rawBlock({ task, signals }: TaskRecord, at: number, group: string, thread: Thread): Block {
  const title = titleOf(task, thread);
  const told = new Set(task.checks.map(({ command }) => command.line));
  for (const { failed, again, passed } of task.failures)
    for (const command of [failed, again, passed]) if (command) told.add(command.line);
  const other = commandsOf(task).filter((command) => !told.has(command.line) && command.exit !== null);
  return {
    title: `### Task ${at + 1}: ${title}`,
    head: [requestLine('task: ', task, title), `task_group: ${group}`, `task_outcome: ${task.outcome}`],
    sections: [
      { heading: 'Preference signals (project):', bullets: signalBullets(signals) },
      { heading: 'Reusable knowledge:', bullets: knowledgeBullets(task) },
      { heading: 'Failures and how to do differently:', bullets: failureBullets(task) },
      { heading: 'References:', bullets: commandBullets(other, 4) },
    ],
  };
}

function summaryBlock({ task, signals }: TaskRecord, at: number, thread: Thread): Block {
  const title = titleOf(task, thread);
  const words = task.turns.findLast((turn) => turn.lastWords)?.lastWords;
  const answer = words ? [bullet(`the agent's last words: ${quote(openingOf(words.text))}`, [words.n])] : [];
  return {
    title: `## Task ${at + 1}: ${title}`,
    head: [requestLine('Request: ', task, title), `Outcome: ${task.outcome}`],
    sections: [
      { heading: 'Preference signals:', bullets: signalBullets(signals) },
      { heading: 'Key steps:', bullets: [...stepBullets(task), ...answer.map((text) => ({ text, value: 13 }))] },
      { heading: 'Failures and how to do differently:', bullets: failureBullets(task) },
      { heading: 'Reusable knowledge:', bullets: knowledgeBullets(task).filter((one) => one.value > 12) },
    ],
  };
}

function requestLine(label: string, task: Task, title: string): string {
  const { message } = task.turns[0] ?? {};
  if (!message) return `${label}${title}`;
  return `${label}${quote(openingOf(message.text))} ${formatItems([message.n])}`;
}

function stepBullets(task: Task): Bullet[] {
  const files = filesOf(task.edits);
  const changed = files.slice(0, 8).map((file) => ({
    text: bullet(
      `changed ${code(file.name, 120)}${file.places.length > 1 ? ` ${file.places.length} times` : ''}`,
      file.places,
    ),
    value: 6,
  }));
  return [...changed, ...commandBullets(commandsOf(task), 8)].slice(0, 10);
}

function commandsOf(task: Task) {
  return task.steps
    .filter((step) => step.step === 'command')
    .filter((command) => command.simple.some((one) => one.purpose !== 'look'));
}

function outcomeOfAll(tasks: readonly Task[]): Outcome {
  const outcomes = tasks.map((task) => task.outcome);
  const [first = 'uncertain'] = outcomes;
  if (outcomes.every((outcome) => outcome === first)) return first;
  return outcomes.includes('success') || outcomes.includes('partial') ? 'partial' : 'uncertain';
}

/** A YAML scalar: plain where nobody could read it differently, else in JSON's quotes, which are YAML's too. */
function yamlText(text: string): string {
  const isPlain =
    /^[A-Za-z.~/][\w ./~@-]{0,300}$/.test(text) &&
    !/ $|^(?:null|true|false|yes|no|on|off|y|n|~|\.(?:inf|nan))$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}
