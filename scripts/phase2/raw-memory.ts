import { type Header, rawSections } from '../workspace/inputs.ts';

/** A thread's raw memory, read back from `raw_memories.md`. */
export interface RawMemory {
  readonly threadId: string;
  readonly header: Header;
  readonly keywords: readonly string[];
  readonly tasks: readonly RawTask[];
}

/** Bullets stand without their `- `, with their local evidence `(@12,15)`. */
export interface RawTask {
  readonly name: string;
  readonly outcome: string;
  readonly preferences: readonly string[];
  readonly knowledge: readonly string[];
  readonly failures: readonly string[];
}

/** Reads every thread's section; what has no known place is passed over. */
export function parseRawMemories(text: string): RawMemory[] {
  return rawSections(text).map(({ threadId, header, body }) => {
    const lines = body.split('\n');
    return { threadId, header, keywords: keywordsOf(lines), tasks: tasksOf(lines) };
  });
}

/** Of the front matter and of any task. */
function keywordsOf(lines: readonly string[]): string[] {
  const words = lines.flatMap((line) => /^keywords: ?(.+)$/.exec(line)?.[1]?.split(',') ?? []);
  return [...new Set(words.map((word) => word.trim().replace(/^["']|["']$/g, '')).filter((word) => word !== ''))];
}

const sections: Readonly<Record<string, 'preferences' | 'knowledge' | 'failures'>> = {
  'Preference signals (project):': 'preferences',
  'Preference signals (personal):': 'preferences',
  'Reusable knowledge:': 'knowledge',
  'Failures and how to do differently:': 'failures',
};

interface OpenTask {
  readonly name: string;
  outcome: string;
  readonly preferences: string[];
  readonly knowledge: string[];
  readonly failures: string[];
}

function tasksOf(lines: readonly string[]): RawTask[] {
  const tasks: OpenTask[] = [];
  let bullets: string[] | null = null;
  for (const line of lines) {
    const name = /^### Task \d+: (.+)$/.exec(line)?.[1];
    const task = tasks.at(-1);
    if (name !== undefined) {
      tasks.push({ name: name.trim(), outcome: 'uncertain', preferences: [], knowledge: [], failures: [] });
      bullets = null;
    } else if (task !== undefined) {
      bullets = take(line, task, bullets);
    }
  }
  return tasks;
}

/** Puts the line where it belongs. @returns the section that the next line goes on with. */
function take(line: string, task: OpenTask, open: string[] | null): string[] | null {
  const section = sections[line.trim()];
  if (section !== undefined) return task[section];
  const outcome = /^task_outcome: (success|partial|uncertain|fail)$/.exec(line)?.[1];
  if (outcome !== undefined) task.outcome = outcome;
  if (/^[A-Z][^.]{0,60}:$/.test(line.trim())) return null;
  if (open !== null && line.startsWith('- ')) open.push(line.slice(2).trim());
  else if (open !== null && open.length > 0 && /^ {2,}\S/.test(line)) open.push(`${open.pop()} ${line.trim()}`);
  return open;
}
