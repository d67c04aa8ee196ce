import type { Thread } from '../rollout/types.ts';

export interface Headed {
  /** The six keys between two `---`. */
  readonly head: string;
  /** What follows. */
  readonly body: string;
  readonly problems: readonly string[];
}

export const outcomes: readonly string[] = ['success', 'partial', 'uncertain', 'fail'];

/**
 * A raw memory's front matter, written anew by code: exactly the six keys in their order, each a scalar on one line.
 * What is missing is taken from the body or the thread and named as a problem.
 * @source spec §5.1, raw_memory format
 */
export function readHead(rawMemory: string, thread: Thread): Headed {
  const { fields, body } = split(rawMemory);
  const problems: string[] = [];
  const given = (key: string): string => oneLine(fields.get(key) ?? '');
  const needed = (key: string, instead: string): string => {
    if (given(key) !== '') return given(key);
    problems.push(`raw_memory: the front matter has no \`${key}\`.`);
    return oneLine(instead);
  };
  const task = needed('task', firstTask(body) ?? thread.title);
  const outcome = given('task_outcome').toLowerCase();
  if (!outcomes.includes(outcome))
    problems.push(`raw_memory: \`task_outcome\` in the front matter must be one of ${outcomes.join(', ')}.`);
  const values = {
    description: needed('description', task),
    task,
    task_group: needed('task_group', thread.repo),
    task_outcome: outcomes.includes(outcome) ? outcome : 'uncertain',
    cwd: folderOf(given('cwd'), thread),
    keywords: needed('keywords', ''),
  };
  const lines = Object.entries(values).map(([key, value]) => `${key}: ${scalar(value)}`.trimEnd());
  return { head: ['---', ...lines, '---'].join('\n'), body, problems };
}

const mostValue = 400;
const key = /^(description|task|task_group|task_outcome|cwd|keywords):[ \t]*(.*)$/;

/** Keys up to the second `---`, or, where a model forgot the fences, up to the first line that is no key. */
function split(rawMemory: string): { fields: Map<string, string>; body: string } {
  const lines = rawMemory.trim().split('\n');
  const fields = new Map<string, string>();
  let at = /^-{3,}\s*$/.test(lines[0] ?? '') ? 1 : 0;
  for (; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const entry = key.exec(line);
    if (entry?.[1] === undefined) {
      if (line.trim() !== '' && !/^\s+(?:-\s)?\S/.test(line)) break;
      const last = [...fields.keys()].at(-1);
      if (last !== undefined)
        fields.set(last, `${fields.get(last)} ${line.trim().replace(/^- /, ', ')}`.slice(0, 2_000));
    } else if (fields.has(entry[1])) break;
    else fields.set(entry[1], unquoted(entry[2] ?? ''));
  }
  const rest = lines.slice(at);
  if (/^-{3,}\s*$/.test(rest[0] ?? '')) rest.shift();
  return { fields, body: rest.join('\n').trim() };
}

function unquoted(value: string): string {
  const text = value.trim();
  const quoted = /^"(.*)"$|^'(.*)'$|^\[(.*)\]$/.exec(text);
  return quoted === null ? text : (quoted[1] ?? quoted[2] ?? quoted[3] ?? '').replaceAll('\\"', '"');
}

function oneLine(value: string): string {
  return value
    .replace(/\s+/gu, ' ')
    .replace(/^[ ,]+/, '')
    .slice(0, mostValue)
    .trim();
}

function firstTask(body: string): string | undefined {
  return /^#{1,6} Task \d{1,3}: (.{1,200})$/m.exec(body)?.[1];
}

/** Never a path of somebody's machine: those are the thread's own folder under another name. */
function folderOf(cwd: string, thread: Thread): string {
  return cwd === '' || /^(?:[/\\]|[A-Za-z]:)/.test(cwd) || cwd.split(/[/\\]/).includes('..') ? thread.cwd : cwd;
}

/** A YAML scalar: plain where that is the same text, else in double quotes. */
function scalar(value: string): string {
  const isPlain =
    /^[\p{L}\p{N}._~/(][^\n]*$/u.test(value) && !/: |:$| #|^(?:true|false|null|yes|no|~|[\d.+-]+)$/i.test(value);
  return isPlain || value === '' ? value : JSON.stringify(value);
}
