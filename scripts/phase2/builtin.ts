import { noUsage } from '../model/usage.ts';
import {
  type Evidence,
  formatEvidence,
  parseEvidence,
  toHandbookEvidence,
  withoutEvidence,
} from '../shared/evidence.ts';
import { byBinary, type Files } from '../shared/files.ts';
import { sha256 } from '../shared/thread-id.ts';
import {
  type Block,
  type BlockDraft,
  type Bullet,
  bulletsOf,
  joinBlocks,
  parseHandbook,
  renderBlock,
} from '../workspace/handbook.ts';
import { handbookPath, rawMemoriesPath } from '../workspace/layout.ts';
import { formatReference } from '../workspace/reference.ts';
import { foldersOfNotes, holdsNotes, keyOfNoted, type NoteBullet, noteBullets } from './builtin-notes.ts';
import { parseRawMemories, type RawMemory, type RawTask } from './raw-memory.ts';
import type { ConsolidationTask, Consolidator } from './types.ts';

/** Raised when the rules below change what is written. */
const rulesVersion = 'builtin-consolidator-2';

/** Bullets that one section of a block holds at most: what most sessions say first. */
const bulletsPerSection = 40;

/**
 * Consolidates by code: one block a working folder, every bullet a stage-1 bullet, joined where two sessions say the
 * same. A candidate is promoted when a second session holds the same words. Where a model was the last to consolidate
 * the scope, its blocks stay as they are and only threads that none of them names are appended. A note becomes a bullet
 * of its repository's root; one that stands goes on standing when its file's days are over.
 */
export function createBuiltinConsolidator(): Consolidator {
  return {
    class: 'builtin',
    promptHash: sha256(rulesVersion).slice(0, 16),
    consolidate: async (task) => ({ files: consolidated(task), usage: noUsage, turns: 0, end: 'finished' }),
  };
}

function consolidated(task: ConsolidationTask): Files {
  const { preamble, blocks } = parseHandbook(task.files.get(handbookPath) ?? '');
  const named = new Set(blocks.flatMap((block) => block.tasks.flatMap((entry) => entry.summaryFiles)));
  const memories = parseRawMemories(task.files.get(rawMemoriesPath) ?? '').filter(
    (memory) => !task.appendOnly || !named.has(summaryOf(memory)),
  );
  const folders = groupBy(memories, folderOf);
  const notes = noteBullets(task.files);
  for (const cwd of foldersOfNotes(task, blocks, notes)) if (!folders.has(cwd)) folders.set(cwd, []);
  const kept = blocks.filter((block) => task.appendOnly || isPersons(block, task, folders));
  const standing = task.appendOnly ? kept : blocks;
  const cited = new Set(standing.flatMap(bulletsOf).flatMap(({ evidence }) => evidence.flatMap(keysOf)));
  const written = [...folders]
    .sort(([a], [b]) => byBinary(a, b))
    .flatMap(([cwd, group]) => {
      const before = task.appendOnly
        ? []
        : blocks.filter((block) => block.appliesTo.cwd === cwd && !kept.includes(block));
      const fresh = cwd === '.' ? notes.filter(({ key }) => !cited.has(key)) : [];
      const drafted = draft(task, cwd, group, before, { all: notes, fresh });
      const isEmpty = drafted.tasks.length === 0 && Object.values(drafted.bullets).every(({ length }) => length === 0);
      return isEmpty ? [] : [renderBlock({ ...drafted, title: freeTitle(drafted.title, kept) })];
    });
  const text = joinBlocks(preamble, [...kept.map((block) => block.raw), ...written]);
  return new Map([...task.files, [handbookPath, text]]);
}

/** A title that no block has that stays: of two with one title the second would be lost. */
function freeTitle(title: string, kept: readonly Block[]): string {
  const taken = new Set(kept.map((block) => block.title));
  let free = title;
  for (let count = 2; taken.has(free); count += 1) free = `${title}, part ${count}`;
  return free;
}

function draft(
  task: ConsolidationTask,
  cwd: string,
  memories: readonly RawMemory[],
  before: readonly Block[],
  notes: Notes,
): BlockDraft {
  const place = cwd === '.' ? task.scope : `${task.scope} (${cwd})`;
  return {
    title: place,
    scopeLine: memories.length === 0 ? `what was noted for ${place}` : `what sessions in ${place} showed`,
    appliesTo: {
      repo: task.scope,
      cwd,
      reuseRule: 'holds for this checkout; run a command again before relying on its result',
    },
    tasks: memories.flatMap((memory) =>
      memory.tasks.map((entry) => ({
        title: `${entry.name}, ${entry.outcome}`,
        references: [referenceTo(memory)],
        keywords: memory.keywords.length === 0 ? ['session'] : memory.keywords,
      })),
    ),
    bullets: {
      preferences: section('preferences', task, memories, before, notes),
      knowledge: section('knowledge', task, memories, before, notes),
      failures: section('failures', task, memories, before, notes),
    },
  };
}

type Section = 'preferences' | 'knowledge' | 'failures';

interface Notes {
  readonly all: readonly NoteBullet[];
  /** Those that no bullet cites yet. */
  readonly fresh: readonly NoteBullet[];
}

/**
 * People's bullets first, as they wrote them: those that are recorded as theirs, and those without evidence. What says
 * the same with the same evidence gives way to them.
 */
function section(
  name: Section,
  task: ConsolidationTask,
  memories: readonly RawMemory[],
  before: readonly Block[],
  { all, fresh }: Notes,
): string[] {
  const persons = before
    .flatMap((block) => block[name])
    .filter((bullet) => bullet.evidence.length === 0 || task.isPersons(bullet.raw));
  const taken = new Set(persons.flatMap((bullet) => bullet.evidence.flatMap(keysOf)));
  const today = new Map(all.map(({ key, text }) => [key, text]));
  const noted = before
    .flatMap((block) => block[name])
    .filter((bullet) => !persons.includes(bullet))
    .flatMap((bullet) => {
      const key = keyOfNoted(bullet, task.isNote);
      return key === null || taken.has(key) ? [] : [today.get(key) ?? sourceOf(bullet)];
    });
  const added = fresh.filter((note) => note.section === name).map(({ text }) => text);
  const ours = joined(memories, name)
    .filter((bullet) => !bullet.evidence.flatMap(keysOf).some((key) => taken.has(key)))
    .slice(0, bulletsPerSection)
    .map((bullet) => `${bullet.text} ${formatEvidence(bullet.evidence)}`);
  return [...persons.map(sourceOf), ...noted, ...added, ...ours];
}

function sourceOf({ raw }: Bullet): string {
  return raw.replace(/^[-*+][ \t]+/, '').trimEnd();
}

interface Joined {
  readonly text: string;
  readonly evidence: readonly Evidence[];
}

const candidateMark = / *\(candidate\)/;

/** Equal bullets as one, with all their evidence; a candidate that only one session holds is left out. */
function joined(memories: readonly RawMemory[], name: Section): Joined[] {
  const found = new Map<string, { text: string; evidence: Evidence[]; threads: Set<string>; certain: boolean }>();
  for (const memory of memories) {
    for (const bullet of memory.tasks.flatMap((task: RawTask) => task[name])) {
      const marked = toHandbookEvidence(bullet, memory.header.thread ?? '');
      const evidence = parseEvidence(marked);
      const text = withoutEvidence(marked).replace(candidateMark, '').trim();
      if (evidence.length === 0 || text === '') continue;
      const key = wordsOf(text);
      const entry = found.get(key) ?? { text, evidence: [], threads: new Set<string>(), certain: false };
      entry.evidence = merged([...entry.evidence, ...evidence]);
      entry.threads.add(memory.threadId);
      entry.certain ||= !candidateMark.test(bullet);
      found.set(key, entry);
    }
  }
  return [...found.values()]
    .filter((entry) => entry.certain || entry.threads.size > 1)
    .sort((a, b) => b.threads.size - a.threads.size);
}

/** What two sessions have to share to say the same: the words before what followed from them. */
function wordsOf(text: string): string {
  return (text.split(' → ')[0] ?? text).toLowerCase().replace(/\s+/g, ' ').trim();
}

function merged(evidence: readonly Evidence[]): Evidence[] {
  return [...groupBy(evidence, (entry) => entry.thread)].map(([thread, entries]) => ({
    thread,
    items: [...new Set(entries.flatMap((entry) => entry.items))],
  }));
}

function referenceTo(memory: RawMemory): string {
  return formatReference(summaryOf(memory), { ...memory.header, thread_id: memory.threadId });
}

function summaryOf(memory: RawMemory): string {
  return `rollout_summaries/${memory.header.rollout_summary_file ?? ''}`;
}

function folderOf(memory: RawMemory): string {
  return memory.header.cwd ?? 'unknown';
}

/** A person's whole block: of a folder that no session is about, or without a task, and with a line of a person's. One that holds notes is made anew with them, and with the lines of persons in it. */
function isPersons(block: Block, task: ConsolidationTask, folders: ReadonlyMap<string, unknown>): boolean {
  if (block.tasks.length > 0 && folders.has(block.appliesTo.cwd)) return false;
  if (holdsNotes(block, task)) return false;
  return (
    bulletsOf(block).some((bullet) => bullet.evidence.length === 0 || task.isPersons(bullet.raw)) ||
    block.tasks.length === 0
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
