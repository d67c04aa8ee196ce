import type { Thread } from '../../rollout/types.ts';
import { formatItems, withoutEvidence } from '../../shared/evidence.ts';
import {
  type Bullet,
  bullet,
  commandBullets,
  failureBullets,
  filesOf,
  knowledgeBullets,
  signalBullets,
} from './bullets.ts';
import { keywordsOf } from './keywords.ts';
import type { Names } from './names.ts';
import type { Signal } from './signals.ts';
import type { Outcome, Task } from './tasks.ts';
import { code, cutToFit, quote, sentencesOf, utf8Bytes } from './text.ts';

export interface TaskRecord {
  readonly task: Task;
  readonly signals: readonly Signal[];
}

interface Section {
  readonly heading: string;
  readonly bullets: Bullet[];
}

interface Block {
  readonly title: string;
  readonly head: readonly string[];
  readonly sections: readonly Section[];
}

// A row of the state is at most 6 KB, both texts and their columns together.
const maxRaw = 2_400;
const maxSummary = 2_900;

/** Both texts of a session, in the formats of spec §5.1, each within its bound: what is worth least is left out first. */
export function renderRecord(
  thread: Thread,
  tasks: readonly TaskRecord[],
  names: Names,
): { raw: string; summary: string } {
  const group = thread.repo === 'none' ? thread.cwd : thread.repo;
  const rawBlocks = tasks.map((entry, at) => rawBlock(entry, at, group, thread));
  const summaryBlocks = tasks.map((entry, at) => summaryBlock(entry, at, thread));
  return {
    raw: fit(frontMatter(thread, tasks, group, names), rawBlocks, maxRaw),
    summary: fit(summaryHead(thread, tasks), summaryBlocks, maxSummary),
  };
}

/** The person's first words on a task as one line, without marks of memory or Markdown. */
export function titleOf(task: Task, fallback: string): string {
  const sentences = sentencesOf(task.turns[0]?.message?.text ?? '', 4).map((sentence) => sentence.text);
  let title = '';
  for (const sentence of sentences) {
    if (title !== '' && title.length >= 24 && !/[:：]$/.test(title)) break;
    title = `${title} ${sentence}`.trim();
  }
  const clean = withoutEvidence(title === '' ? fallback : title)
    .replaceAll(/\s{1,40}/g, ' ')
    .trim();
  const { text, cut } = cutToFit(clean, 100);
  return cut ? `${text} …` : text.replace(/[.。!！:：]{1,4}$/, '');
}

function frontMatter(thread: Thread, tasks: readonly TaskRecord[], group: string, names: Names): string {
  const [first] = tasks;
  const title = first ? titleOf(first.task, thread.title) : '';
  return [
    '---',
    `description: ${yamlText(tasks.map(({ task }) => inShort(task, thread)).join('; '))}`,
    `task: ${yamlText(title)}`,
    `task_group: ${yamlText(group)}`,
    `task_outcome: ${first ? outcomeOfAll(tasks) : 'uncertain'}`,
    `cwd: ${yamlText(thread.cwd)}`,
    `keywords: ${yamlText(
      keywordsOf(
        tasks.map(({ task }) => task),
        names,
      ).join(', '),
    )}`,
    '---',
  ].join('\n');
}

function summaryHead(thread: Thread, tasks: readonly TaskRecord[]): string {
  const branch = thread.branch ? `, branch ${code(thread.branch, 80)}` : '';
  const commit = thread.commit ? `, commit ${code(thread.commit.slice(0, 12))}` : '';
  return [
    `# ${tasks.map(({ task }) => inShort(task, thread)).join('; ')}`,
    '',
    `Rollout context: ${thread.agent} (${thread.origin}) in ${code(thread.cwd, 120)} of ${code(thread.repo, 120)}${branch}${commit}; written by rules from the session's structure, without a model.`,
  ].join('\n');
}

function rawBlock({ task, signals }: TaskRecord, at: number, group: string, thread: Thread): Block {
  const title = titleOf(task, thread.title);
  const failed = task.failures.filter((failure) => failure.passed === null).map((failure) => failure.failed);
  const proved = new Set(task.checks.slice(-4));
  const other = commandsOf(task).filter((command) => !proved.has(command) && !failed.includes(command));
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
  const title = titleOf(task, thread.title);
  const words = task.turns.findLast((turn) => turn.lastWords)?.lastWords;
  const opening = words ? sentencesOf(words.text, 3) : [];
  const answer =
    words && opening[0] ? [bullet(`the agent's last words: ${quote(firstOf(words.text, opening))}`, [words.n])] : [];
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
  const sentences = sentencesOf(message.text, 12);
  return `${label}${quote(firstOf(message.text, sentences))} ${formatItems([message.n])}`;
}

/** The first sentences of a line, verbatim. */
function firstOf(text: string, sentences: readonly { readonly text: string; readonly at: number }[]): string {
  const [first] = sentences;
  if (!first) return '';
  let end = first.at + first.text.length;
  for (const sentence of sentences) {
    const next = sentence.at + sentence.text.length;
    if (next - first.at > 240 || text.slice(first.at, next).includes('\n')) break;
    end = next;
  }
  return withoutEvidence(text.slice(first.at, end));
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

/** `Fix the test: success, changed pricing/discount.py, verified with pytest` */
function inShort(task: Task, thread: Thread): string {
  const files = filesOf(task.edits).map((file) => file.name);
  const more = files.length > 2 ? ` and ${files.length - 2} more` : '';
  const changed = files.length > 0 ? `, changed ${files.slice(0, 2).join(', ')}${more}` : '';
  const check = task.checks.at(-1);
  const proof =
    task.outcome === 'success' && check
      ? `, verified with ${cutToFit(check.line.split('\n', 1)[0] ?? '', 60).text}`
      : '';
  return `${titleOf(task, thread.title)}: ${task.outcome}${changed}${proof}`;
}

function outcomeOfAll(tasks: readonly TaskRecord[]): Outcome {
  const outcomes = tasks.map(({ task }) => task.outcome);
  const [first = 'uncertain'] = outcomes;
  if (outcomes.every((outcome) => outcome === first)) return first;
  return outcomes.includes('success') || outcomes.includes('partial') ? 'partial' : 'uncertain';
}

function fit(head: string, blocks: readonly Block[], maxBytes: number): string {
  for (;;) {
    const text = render(head, blocks);
    if (utf8Bytes(text) <= maxBytes) return text;
    const section = cheapest(blocks);
    if (!section) return text;
    section.bullets.splice(section.bullets.indexOf(least(section.bullets)), 1);
  }
}

function render(head: string, blocks: readonly Block[]): string {
  const parts = blocks.map((block) => {
    const sections = block.sections.filter((section) => section.bullets.length > 0);
    const lists = sections.map(
      (section) => `\n${section.heading}\n${section.bullets.map((one) => one.text).join('\n')}\n`,
    );
    return `${block.title}\n\n${block.head.join('\n')}\n${lists.join('')}`;
  });
  return `${head}\n\n${parts.join('\n')}`;
}

function cheapest(blocks: readonly Block[]): Section | undefined {
  const full = blocks.flatMap((block) => block.sections).filter((section) => section.bullets.length > 0);
  return full.sort((a, b) => least(a.bullets).value - least(b.bullets).value)[0];
}

function least(bullets: readonly Bullet[]): Bullet {
  return bullets.reduce((low, one) => (one.value <= low.value ? one : low), bullets[0] ?? { text: '', value: 0 });
}

/** A YAML scalar: plain where nobody could read it differently, else in JSON's quotes, which are YAML's too. */
function yamlText(text: string): string {
  const isPlain =
    /^[A-Za-z.~/][\w ./~@-]{0,300}$/.test(text) &&
    !/ $|^(?:null|true|false|yes|no|on|off|y|n|~|\.(?:inf|nan))$/i.test(text);
  return isPlain ? text : JSON.stringify(text);
}
