/** A thread's section of `raw_memories.md`, read back. Written by `workspace/layout.ts`, body by an extractor. */
export interface RawMemory {
  readonly threadId: string;
  /** Header lines, such as `cwd`, `repo`, `thread` (the short id), `updated_at`, `rollout_summary_file`. */
  readonly header: Readonly<Record<string, string>>;
  readonly keywords: readonly string[];
  readonly tasks: readonly RawTask[];
}

export interface RawTask {
  readonly name: string;
  readonly outcome: string;
  /** Bullets without their `- `, local evidence `(@12,15)` at the end. */
  readonly preferences: readonly string[];
  readonly knowledge: readonly string[];
  readonly failures: readonly string[];
}

/** Reads every thread section; what has no known place is passed over. */
export function parseRawMemories(text: string): RawMemory[] {
  return text
    .split(/^(?=## Thread `)/m)
    .slice(1)
    .map(parseSection)
    .filter((memory) => memory.threadId !== '');
}

function parseSection(section: string): RawMemory {
  const lines = section.split('\n');
  const threadId = /^## Thread `([^`]+)`/.exec(lines[0] ?? '')?.[1] ?? '';
  const blank = lines.findIndex((line, index) => index > 0 && line.trim() === '' && index > 1);
  const header = Object.fromEntries(lines.slice(1, blank === -1 ? undefined : blank).flatMap(entryOf));
  const body = lines.slice(blank === -1 ? lines.length : blank);
  const keywords = body.flatMap((line) => /^keywords: (.+)$/.exec(line)?.[1]?.split(',') ?? []);
  return {
    threadId,
    header,
    keywords: keywords.map((word) => word.trim()).filter((word) => word !== ''),
    tasks: tasksOf(body),
  };
}

function entryOf(line: string): [string, string][] {
  const match = /^(\w+): (.*)$/.exec(line);
  return match?.[1] === undefined ? [] : [[match[1], match[2] ?? '']];
}

const sections: Readonly<Record<string, 'preferences' | 'knowledge' | 'failures'>> = {
  'Preference signals (project):': 'preferences',
  'Preference signals (personal):': 'preferences',
  'Reusable knowledge:': 'knowledge',
  'Failures and how to do differently:': 'failures',
};

function tasksOf(lines: readonly string[]): RawTask[] {
  const tasks: { name: string; outcome: string; preferences: string[]; knowledge: string[]; failures: string[] }[] = [];
  let open: string[] | null = null;
  for (const line of lines) {
    const heading = /^### Task \d+: (.+)$/.exec(line);
    const task = tasks.at(-1);
    if (heading?.[1] !== undefined) {
      tasks.push({ name: heading[1].trim(), outcome: 'uncertain', preferences: [], knowledge: [], failures: [] });
      open = null;
    } else if (task !== undefined) {
      const section = sections[line.trim()];
      const outcome = /^task_outcome: (\w+)$/.exec(line)?.[1];
      if (outcome !== undefined) task.outcome = outcome;
      if (section !== undefined) open = task[section];
      else if (/^[A-Z][^.]*:$/.test(line.trim())) open = null;
      else if (open !== null && line.startsWith('- ')) open.push(line.slice(2).trim());
      else if (open !== null && /^ {2,}\S/.test(line) && open.length > 0) open.push(`${open.pop()} ${line.trim()}`);
    }
  }
  return tasks;
}
