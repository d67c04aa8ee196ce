import {
  type Evidence,
  formatEvidence,
  parseEvidence,
  toHandbookEvidence,
  withoutEvidence,
} from '../shared/evidence.ts';
import { byBinary, type Files } from '../shared/files.ts';
import { sha256 } from '../shared/thread-id.ts';
import { type Block, handbookPath, parseHandbook } from '../workspace/handbook.ts';
import { rawMemoriesPath } from '../workspace/layout.ts';
import { parseRawMemories, type RawMemory } from './raw-memory.ts';
import type { ConsolidationTask, Consolidator } from './types.ts';

/** Raised when the rules below change what is written. */
const rulesVersion = 'builtin-consolidator-1';

/** Bullets that one section of a block holds at most; the most often seen, then the newest stay. */
const bulletsPerSection = 40;

const noUsage = { requests: 0, input: 0, cached: 0, output: 0 } as const;

/**
 * Consolidates by code: one block a working folder, every bullet a stage-1 bullet, joined where two sessions say the
 * same. A candidate is promoted when a second session holds the same words. Where a model was the last to consolidate
 * the scope, its blocks stay as they are and only threads that none of them names are appended.
 */
export function createBuiltinConsolidator(): Consolidator {
  return {
    class: 'builtin',
    promptHash: sha256(rulesVersion).slice(0, 16),
    consolidate: async (task) => ({ files: consolidated(task), usage: noUsage, turns: 0, end: 'finished' }),
  };
}

function consolidated(task: ConsolidationTask): Files {
  const start = task.files.get(handbookPath) ?? '';
  const memories = parseRawMemories(task.files.get(rawMemoriesPath) ?? '');
  const blocks = parseHandbook(start).blocks;
  const named = new Set(blocks.flatMap((block) => block.tasks.flatMap((entry) => entry.summaryFiles)));
  const fresh = task.appendOnly ? memories.filter((memory) => !named.has(fileOf(memory))) : memories;
  const folders = groupBy(fresh, (memory) => memory.header.cwd ?? 'unknown');
  const written = [...folders]
    .sort(([a], [b]) => byBinary(a, b))
    .map(([cwd, group]) => ({
      cwd,
      text: blockText(
        task,
        cwd,
        group,
        blocks.filter((block) => block.appliesTo.cwd === cwd),
      ),
    }));
  const kept = blocks.filter(
    (block) => task.appendOnly || (isPersons(block, task) && !folders.has(block.appliesTo.cwd)),
  );
  const text = [...kept.map((block) => block.raw.trimEnd()), ...written.map((block) => block.text)].join('\n\n');
  return new Map([...task.files, [handbookPath, text === '' ? '' : `${text}\n`]]);
}

function blockText(
  task: ConsolidationTask,
  cwd: string,
  memories: readonly RawMemory[],
  before: readonly Block[],
): string {
  const place = cwd === '.' ? task.scope : `${task.scope} (${cwd})`;
  const tasks = memories.flatMap((memory) => memory.tasks.map((entry) => ({ memory, entry })));
  const lines = [
    `# Task Group: ${place}`,
    `scope: sessions in ${place}`,
    `applies_to: repo=${task.scope}; cwd=${cwd}; reuse_rule=holds for this checkout; run a command again before relying on its result`,
    '',
    ...tasks.flatMap(({ memory, entry }, index) => [
      `## Task ${index + 1}: ${entry.name}, ${entry.outcome}`,
      '',
      '### rollout_summary_files',
      '',
      referenceOf(memory),
      '',
      '### keywords',
      '',
      `- ${memory.keywords.join(', ') || 'session'}`,
      '',
    ]),
    ...section('## User preferences', task, memories, 'preferences', before),
    ...section('## Reusable knowledge', task, memories, 'knowledge', before),
    ...section('## Failures and how to do differently', task, memories, 'failures', before),
  ];
  return lines.join('\n').trimEnd();
}

type Section = 'preferences' | 'knowledge' | 'failures';

function section(
  heading: string,
  task: ConsolidationTask,
  memories: readonly RawMemory[],
  name: Section,
  before: readonly Block[],
): string[] {
  const persons = before.flatMap((block) => block[name]).filter((bullet) => task.isPersons(bullet.raw));
  const taken = new Set(persons.flatMap((bullet) => bullet.evidence.flatMap(keysOf)));
  const bullets = joined(memories, name)
    .filter((bullet) => !bullet.evidence.flatMap(keysOf).some((key) => taken.has(key)))
    .slice(0, bulletsPerSection)
    .map((bullet) => `- ${bullet.text} ${formatEvidence(bullet.evidence)}`);
  const all = [...persons.map((bullet) => bullet.raw.trimEnd()), ...bullets];
  return all.length === 0 ? [] : [heading, '', ...all, ''];
}

interface Joined {
  readonly text: string;
  readonly evidence: readonly Evidence[];
  readonly threads: number;
  readonly order: number;
}

const candidateMark = /\s*\(candidate\)/;

/** Equal bullets as one, with all their evidence; candidates of a single session are left out. */
function joined(memories: readonly RawMemory[], name: Section): Joined[] {
  const found = new Map<
    string,
    { text: string; evidence: Evidence[]; threads: Set<string>; certain: boolean; order: number }
  >();
  let order = 0;
  for (const memory of memories) {
    for (const bullet of memory.tasks.flatMap((task) => task[name])) {
      const marked = toHandbookEvidence(bullet, memory.header.thread ?? '');
      const evidence = parseEvidence(marked);
      const text = withoutEvidence(marked).replace(candidateMark, '').trim();
      if (evidence.length === 0 || text === '') continue;
      const key = text.toLowerCase().replace(/\s+/g, ' ');
      const entry = found.get(key) ?? {
        text,
        evidence: [],
        threads: new Set<string>(),
        certain: false,
        order: order++,
      };
      entry.evidence = merged([...entry.evidence, ...evidence]);
      entry.threads.add(memory.threadId);
      entry.certain ||= !candidateMark.test(bullet);
      found.set(key, entry);
    }
  }
  return [...found.values()]
    .filter((entry) => entry.certain || entry.threads.size > 1)
    .map(({ text, evidence, threads, order: place }) => ({ text, evidence, threads: threads.size, order: place }))
    .sort((a, b) => b.threads - a.threads || a.order - b.order);
}

function merged(evidence: readonly Evidence[]): Evidence[] {
  const byThread = groupBy(evidence, (entry) => entry.thread);
  return [...byThread].map(([thread, entries]) => ({
    thread,
    items: [...new Set(entries.flatMap((entry) => entry.items))],
  }));
}

function referenceOf(memory: RawMemory): string {
  const { cwd, rollout_path, updated_at } = memory.header;
  return `- ${fileOf(memory)} (cwd=${cwd ?? 'unknown'}, rollout_path=${rollout_path ?? ''}, updated_at=${updated_at ?? ''}, thread_id=${memory.threadId})`;
}

function fileOf(memory: RawMemory): string {
  return `rollout_summaries/${memory.header.rollout_summary_file ?? ''}`;
}

/** Whether a person made the block: nothing in it cites a session. */
function isPersons(block: Block, task: ConsolidationTask): boolean {
  return (
    block.tasks.length === 0 ||
    [...block.preferences, ...block.knowledge, ...block.failures].some((bullet) => task.isPersons(bullet.raw))
  );
}

function keysOf(evidence: Evidence): string[] {
  return evidence.items.map((item) => `${evidence.thread}@${item}`);
}

function groupBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group === undefined) groups.set(keyOf(value), [value]);
    else group.push(value);
  }
  return groups;
}
