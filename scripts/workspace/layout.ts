import { type EpochSeconds, isoTime } from '../shared/clock.ts';
import { pathFault } from '../shared/safe-path.ts';

/** A repository id, or `*` for what holds everywhere. */
export type Scope = string;

export const everywhere: Scope = '*';

export const handbookPath = 'memories/MEMORY.md';
export const memorySummaryPath = 'memories/memory_summary.md';
export const rawMemoriesPath = 'memories/raw_memories.md';
export const summariesFolder = 'memories/rollout_summaries/';
export const skillsFolder = 'memories/skills/';

/** Bounds of memory files. */
export const sizeLimits = {
  /** UTF-8 bytes of a file that people or an agent write. */
  fileBytes: 262_144,
  /** UTF-8 bytes of all blocks of one scope. */
  scopeBytes: 262_144,
  /** UTF-8 bytes of an extension's file that a consolidation is shown; a larger one is not. */
  resourceBytes: 70_000,
  /** UTF-16 code units of `memory_summary.md`. */
  summaryCharacters: 5_500,
} as const;

/** `memories/rollout_summaries/<stem>.md` */
export function summaryPath(stem: string): string {
  return `${summariesFolder}${stem}.md`;
}

/** The stem of a summary's path; null for any other path. */
export function stemOf(path: string): string | null {
  return /^memories\/rollout_summaries\/([A-Za-z0-9][A-Za-z0-9._-]{0,159})\.md$/.exec(path)?.[1] ?? null;
}

/** The folder's name of `memories/skills/<name>/SKILL.md`; null for any other path. */
export function skillOf(path: string): string | null {
  return /^memories\/skills\/([^/]{1,80})\/SKILL\.md$/.exec(path)?.[1] ?? null;
}

/** Files that code makes from rows: never written by people or agents, never merged as text. */
export function isGenerated(path: string): boolean {
  return path === rawMemoriesPath || path.startsWith(summariesFolder);
}

/** Whether a consolidation of the scope may write the path. */
export function isWritable(path: string, scope: Scope): boolean {
  if (skillOf(path) !== null) return pathFault(path) === null;
  return path === handbookPath || (scope === everywhere && path === memorySummaryPath);
}

/** Whether a file may stand below `memories/` at all. */
export function isKnownPath(path: string): boolean {
  return (
    path === handbookPath ||
    path === memorySummaryPath ||
    path === rawMemoriesPath ||
    stemOf(path) !== null ||
    /^memories\/skills\/[^/]{1,80}\/([^/]{1,80}\/){0,3}[^/]{1,80}\.md$/.test(path) ||
    /^memories\/extensions\/([^/]{1,80}\/){0,4}[^/]{1,128}$/.test(path)
  );
}

/** `<yyyy>/<mm>/<dd>/<thread_id>.jsonl` by UTC start: a rollout's path on the rollouts ref. The id is a safe one. */
export function rolloutPath(threadId: string, startedAt: EpochSeconds): string {
  return `${isoTime(startedAt).slice(0, 10).replace(/-/g, '/')}/${threadId}.jsonl`;
}

/**
 * The stem of a summary's file name, `2026-11-29T23-44-06-9kQz-fix_the_build`: the thread's start, four base-62 digits of
 * its id, its slug. Frozen at the first extraction, so neither a new slug nor a renamed thread moves the file.
 * @param taken stems in use, compared without case since some file systems do: a taken one gets `-2`, `-3` …
 */
export function summaryStem(
  threadId: string,
  startedAt: EpochSeconds,
  slug: string,
  taken: Iterable<string> = [],
): string {
  const used = new Set([...taken].map((stem) => stem.toLowerCase()));
  const time = isoTime(startedAt).replace(/:/g, '-').replace('Z', '');
  const words = fileSlug(slug);
  const stem = `${time}-${shortHash(threadId)}${words === '' ? '' : `-${words}`}`;
  if (!used.has(stem.toLowerCase())) return stem;
  let count = 2;
  while (used.has(`${stem}-${count}`.toLowerCase())) count += 1;
  return `${stem}-${count}`;
}

/** ASCII letters and digits in lower case, `_` for any other character, at most 60, no `_` at the end. */
function fileSlug(slug: string): string {
  return [...slug]
    .slice(0, 60)
    .map((character) => (/[A-Za-z0-9]/.test(character) ? character.toLowerCase() : '_'))
    .join('')
    .replace(/_{1,60}$/, '');
}

const digits = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** The id's low 32 bits (of one that is no UUID: a rolling hash of its bytes) modulo 62⁴, most significant digit first. */
function shortHash(threadId: string): string {
  let rest = seedOf(threadId) % 62 ** 4;
  let hash = '';
  for (let place = 0; place < 4; place += 1) {
    hash = `${digits[rest % 62]}${hash}`;
    rest = Math.floor(rest / 62);
  }
  return hash;
}

function seedOf(threadId: string): number {
  const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{4}([0-9a-f]{8})$/i.exec(threadId);
  if (uuid?.[1] !== undefined) return Number.parseInt(uuid[1], 16);
  let seed = 0;
  for (const byte of Buffer.from(threadId)) seed = (Math.imul(seed, 31) + byte) >>> 0;
  return seed;
}
