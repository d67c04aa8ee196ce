import type { Answer, RecordedRequest } from './api-types.ts';

/** A row of the rollout as the request shows it. */
export interface Row {
  readonly who: string;
  readonly n: string;
  readonly text: string;
}

/** The last message of a phase 1 request's first two: where the session stands. */
export function isExtraction(request: RecordedRequest): boolean {
  return request.body.tools === undefined;
}

/** The rows that a request of phase 1 shows. */
export function rowsOf(request: Pick<RecordedRequest, 'texts'>): Row[] {
  const text = request.texts[1] ?? '';
  return text.split(/^(?=\[(?:human|assistant|commentary|tool|harness|other_agent) @)/m).flatMap((part): Row[] => {
    const match = /^\[(\w+) @([\d:.]+)[^\]]*\] ([\s\S]*)$/.exec(part);
    const body = (match?.[3] ?? '').replace(/\n<\/rollout-[\s\S]*$/, '');
    return match === null ? [] : [{ who: match[1] ?? '', n: match[2] ?? '', text: body.trim() }];
  });
}

/**
 * What a sound model makes of a session: each of the human's messages a preference in their words, each `FACT …` of a
 * command's output a piece of knowledge. A session that begins with "nothing" teaches nothing.
 */
export function extractionOf(
  request: Pick<RecordedRequest, 'texts'>,
): Record<'rollout_summary' | 'rollout_slug' | 'raw_memory', string> {
  const rows = rowsOf(request);
  const human = rows.filter((row) => row.who === 'human');
  const first = human[0]?.text ?? '';
  if (first.startsWith('nothing')) return { rollout_summary: '', rollout_slug: '', raw_memory: '' };
  const preferences = human
    .slice(1)
    .map((row) => `- when working here: "${oneLine(row.text)}" -> do so by default (@${row.n})`);
  const facts = rows
    .filter((row) => row.who === 'tool')
    .flatMap((row) => [...row.text.matchAll(/FACT ([^\n\\"]+)/g)].map((match) => `- ${match[1]} (@${row.n})`));
  const title = oneLine(first);
  const body = [
    `### Task 1: ${title}`,
    `task: ${title}`,
    'task_group: work',
    'task_outcome: success',
    '',
    ...(preferences.length > 0 ? ['Preference signals (project):', ...preferences, ''] : []),
    ...(facts.length > 0 ? ['Reusable knowledge:', ...facts, ''] : []),
  ].join('\n');
  const head = `---\ndescription: ${title}\ntask: ${title}\ntask_group: work\ntask_outcome: success\ncwd: .\nkeywords: work, ${title.split(' ')[0]}\n---`;
  return {
    rollout_summary: `# ${title}\n\n## Task 1: ${title}\n\nOutcome: success\n\n${[...preferences, ...facts].length > 0 ? `Key steps:\n- the task was stated (@${human[0]?.n})\n` : ''}`,
    rollout_slug: title,
    raw_memory: `${head}\n\n${body}`,
  };
}

export function extractionAnswer(request: RecordedRequest): Answer {
  return { text: JSON.stringify(extractionOf(request)) };
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/["“”]/g, '').slice(0, 120).trim();
}
