import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import type { AcceptContext } from '../../scripts/workspace/accept.ts';
import { type InputRow, withInputs } from '../../scripts/workspace/inputs.ts';
import { handbookPath } from '../../scripts/workspace/layout.ts';
import { lineHash } from '../../scripts/workspace/lines.ts';
import type { ItemFact } from '../../scripts/workspace/violation.ts';

export const repo = 'github.com/acme/shop';
export const otherRepo = 'github.com/acme/api';

export const first = '01980000-0000-7000-8000-000000000001';
export const second = '01980000-0000-7000-8000-000000000002';
export const foreign = '01980000-0000-7000-8000-000000000003';
export const [a, b, c] = [shortThreadId(first), shortThreadId(second), shortThreadId(foreign)];

export function aRow(threadId: string, over: Partial<InputRow> = {}): InputRow {
  return {
    threadId,
    repo: threadId === foreign ? otherRepo : repo,
    cwd: '.',
    branch: 'main',
    updatedAt: 1_795_992_800,
    startedAt: 1_795_992_800,
    rolloutPath: `2026/11/29/${threadId}.jsonl`,
    stem: `2026-11-29T23-33-20-${threadId.slice(-4)}-fix`,
    rawMemory: '---\nkeywords: build, tests\n---\n### Task 1: Fix the build\nReusable knowledge:\n- run it twice (@3)',
    rolloutSummary: '# Fixed the build\n\n## Task 1: Fix the build\nOutcome: success',
    ...over,
  };
}

export function aReference(threadId: string): string {
  const row = aRow(threadId);
  return `- rollout_summaries/${row.stem}.md (cwd=., rollout_path=${row.rolloutPath}, updated_at=2026-11-29T22:53:20Z, thread_id=${threadId})`;
}

/** A clean block; `lines` replaces parts of it by name. */
export function aBlock(
  over: {
    title?: string;
    repo?: string;
    thread?: string;
    preferences?: string[];
    knowledge?: string[];
    failures?: string[];
  } = {},
): string {
  const scope = over.repo ?? repo;
  const thread = over.thread ?? first;
  const text = `# Task Group: ${over.title ?? 'The build'}
scope: building and testing
applies_to: repo=${scope}; cwd=.; reuse_rule=holds for this checkout

## Task 1: Fix the build, success
### rollout_summary_files
${aReference(thread)}
### keywords
- build, tests

## User preferences
${(over.preferences ?? [`- when the build fails, show the log first [${shortThreadId(thread)}@1]`]).join('\n')}

## Reusable knowledge
${(over.knowledge ?? [`- the tests need port 5432 [${shortThreadId(thread)}@3]`]).join('\n')}

## Failures and how to do differently
${(over.failures ?? [`- the first run timed out; a second passed [${shortThreadId(thread)}@3,4]`]).join('\n')}`;
  return `${text.trimEnd()}\n`;
}

/** Odd items of 1 to 9 are a person's, even ones a tool's; 10 to 19 the assistant's; 20 to 29 another agent's. */
export function factOf(thread: string, item: string): ItemFact | null {
  const number = Number(item);
  if (![a, b, c].includes(thread) || !(number >= 1 && number < 30)) return null;
  const who = number >= 20 ? 'other_agent' : number >= 10 ? 'assistant' : number % 2 === 0 ? 'tool' : 'human';
  return { who, repo: thread === c ? otherRepo : repo };
}

export function aContext(over: Partial<AcceptContext> & { persons?: string[] } = {}): AcceptContext {
  const persons = new Set((over.persons ?? []).map(lineHash));
  return {
    scope: repo,
    audience: 'team',
    isPersonLine: (_, hash) => persons.has(hash),
    evidenceOf: factOf,
    deletedThreads: new Set<string>(),
    isPersonSkill: () => false,
    ...over,
  };
}

/** A projection: the handbook with the inputs of the given threads. */
export function aWorkspace(handbook: string, threads: readonly string[] = [first, second]): Map<string, string> {
  return new Map(
    withInputs(
      new Map([[handbookPath, handbook]]),
      threads.map((thread) => aRow(thread)),
    ),
  );
}
