import { type EpochSeconds, isoTime } from '../shared/clock.ts';
import { byBinary, type Files } from '../shared/files.ts';
import { lastOf } from '../shared/last.ts';
import { withoutHidden } from '../shared/sanitize.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import { isGenerated, rawMemoriesPath, type Scope, summaryPath } from './layout.ts';

/** What a selected stage-1 output contributes to the files that consolidation reads. */
export interface InputRow {
  readonly threadId: string;
  /** Repository id: the row's scope. */
  readonly repo: string;
  /** Relative to the repository's root. */
  readonly cwd: string;
  readonly branch: string | null;
  readonly updatedAt: EpochSeconds;
  readonly startedAt: EpochSeconds;
  /** `<yyyy>/<mm>/<dd>/<thread_id>.jsonl` */
  readonly rolloutPath: string;
  /** File name of the summary without `.md` (`summaryStem`). */
  readonly stem: string;
  readonly rawMemory: string;
  readonly rolloutSummary: string;
}

/** The header of a summary or of a thread's section in `raw_memories.md`: key → value, one line each. */
export type Header = Readonly<Record<string, string>>;

/** A thread's section of `raw_memories.md`, cut from the source. */
export interface RawSection {
  readonly threadId: string;
  readonly header: Header;
  readonly body: string;
  /** The source, up to the next section. */
  readonly raw: string;
}

/** `raw_memories.md` and one summary a row, whatever the rows' order. @throws when two rows share a stem. */
export function inputFiles(rows: readonly InputRow[]): Files {
  return withInputs(new Map(), rows);
}

/** The files with the generated ones replaced by those of the rows: what lost its row disappears. */
export function withInputs(files: Files, rows: readonly InputRow[]): Files {
  const sections: string[] = [];
  const summaries = new Map<string, string>();
  for (const row of byThread(rows)) {
    const facts = factsOf(row);
    sections.push(rawSection(row, facts));
    addSummary(summaries, summaryPath(row.stem), summaryText(row, facts));
  }
  const written = [...files].filter(([path]) => !isGenerated(path));
  return inOrder([...written, ...summaries, [rawMemoriesPath, joinRawSections(sections)]]);
}

/**
 * The files with the generated ones of some scopes replaced by what `inputs` holds of such; those of scopes that are not
 * named stay as they are.
 * @throws when two rows share a stem.
 */
export function replaceInputs(files: Files, inputs: ReadonlyMap<Scope, Files>): Files {
  return mergeInputs(files, [...inputs.values()], ({ repo }) => !inputs.has(repo ?? ''));
}

/** The files with the generated ones of rows that they do not hold yet; what stands there stays as it is. */
export function addInputs(files: Files, rows: readonly InputRow[]): Files {
  const known = new Set(sectionsIn(files.get(rawMemoriesPath) ?? '').map(({ threadId }) => threadId));
  const added = rows.filter((row) => !known.has(row.threadId) && !files.has(summaryPath(row.stem)));
  return added.length === 0 ? files : mergeInputs(files, [inputFiles(added)], () => true);
}

/** All rows as one text, by ascending thread id, so that equal selections give equal bytes. */
export function rawMemories(rows: readonly InputRow[]): string {
  return joinRawSections(byThread(rows).map((row) => rawSection(row, factsOf(row))));
}

/** The text's sections; what precedes the first belongs to none. */
export function rawSections(text: string): RawSection[] {
  return sectionsIn(text).map(({ threadId, raw }) => {
    const end = raw.indexOf('\n');
    return { threadId, ...splitHeader(end === -1 ? '' : raw.slice(end + 1).trimStart()), raw };
  });
}

/** The same, unread. */
function sectionsIn(text: string): Pick<RawSection, 'threadId' | 'raw'>[] {
  return text
    .split(/^(?=## Thread `)/m)
    .filter((raw) => raw.startsWith('## Thread `'))
    .map((raw) => {
      const end = raw.indexOf('\n');
      return { threadId: raw.slice(11, raw.lastIndexOf('`', end === -1 ? raw.length : end)), raw };
    });
}

/** The sections that a scope's projection holds, as a text of its own. */
export function rawMemoriesOf(text: string, scope: Scope): string {
  return joinRawSections(sectionsByScope(text).get(scope) ?? []);
}

/** The header of a summary file and the words below it. */
export function splitHeader(text: string): { readonly header: Header; readonly body: string } {
  const header: [string, string][] = [];
  let at = 0;
  while (at <= text.length) {
    const end = text.indexOf('\n', at);
    const next = end === -1 ? text.length + 1 : end + 1;
    const entry = /^([a-z_]{1,40}): (.*?)\r?$/.exec(text.slice(at, next - 1));
    if (entry?.[1] === undefined) break;
    header.push([entry[1], entry[2] ?? '']);
    at = next;
  }
  return { header: Object.fromEntries(header), body: text.slice(at).trim() };
}

/** Every scope asks for its part of the same text, which is large: it is cut once. */
const sectionsByScope = lastOf((text: string): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>();
  for (const { header, raw } of rawSections(text)) {
    const known = found.get(header.repo ?? '');
    if (known === undefined) found.set(header.repo ?? '', [raw]);
    else known.push(raw);
  }
  return found;
});

function byThread<T extends { readonly threadId: string }>(rows: readonly T[]): T[] {
  return [...rows].sort((a, b) => byBinary(a.threadId, b.threadId));
}

function inOrder(files: Iterable<readonly [string, string]>): Files {
  return new Map([...files].sort(([a], [b]) => byBinary(a, b)));
}

/**
 * @param inputs of whose files the generated ones come in.
 * @param stays whether a section or a summary with this header is kept beside them.
 */
function mergeInputs(files: Files, inputs: readonly Files[], stays: (header: Header) => boolean): Files {
  const sections = rawSections(files.get(rawMemoriesPath) ?? '')
    .filter(({ header }) => stays(header))
    .map(({ threadId, raw }) => ({ threadId, raw }));
  const summaries = new Map<string, string>();
  for (const fresh of inputs) {
    sections.push(...sectionsIn(fresh.get(rawMemoriesPath) ?? ''));
    for (const [path, text] of fresh)
      if (isGenerated(path) && path !== rawMemoriesPath) addSummary(summaries, path, text);
  }
  const kept = [...files].filter(
    ([path, text]) => !isGenerated(path) || (path !== rawMemoriesPath && stays(splitHeader(text).header)),
  );
  const raw = joinRawSections(byThread(sections).map((section) => section.raw));
  return inOrder(new Map([...kept, ...summaries, [rawMemoriesPath, raw]]));
}

function addSummary(summaries: Map<string, string>, path: string, text: string): void {
  if (summaries.has(path)) throw new Error(`two threads share the summary ${path}`);
  summaries.set(path, text);
}

function joinRawSections(sections: readonly string[]): string {
  if (sections.length === 0) return '# Raw Memories\n\nNo raw memories yet.\n';
  return `# Raw Memories\n\nMerged stage-1 raw memories (stable ascending thread-id order):\n\n${sections.join('')}`;
}

/** Lines that both headers of a thread have. */
function factsOf(row: InputRow) {
  return {
    id: oneLine(row.threadId),
    thread: `thread: ${shortThreadId(row.threadId)}`,
    updatedAt: `updated_at: ${isoTime(row.updatedAt)}`,
    repo: `repo: ${oneLine(row.repo)}`,
    cwd: `cwd: ${oneLine(row.cwd)}`,
    path: `rollout_path: ${oneLine(row.rolloutPath)}`,
  };
}

type Facts = ReturnType<typeof factsOf>;

function rawSection(row: InputRow, { id, thread, updatedAt, repo, cwd, path }: Facts): string {
  const file = `rollout_summary_file: ${row.stem}.md`;
  const header = [`## Thread \`${id}\``, thread, updatedAt, repo, cwd, path, file];
  return [...header, '', unbroken(row.rawMemory), '', ''].join('\n');
}

function summaryText(row: InputRow, { id, thread, updatedAt, repo, cwd, path }: Facts): string {
  const branch = row.branch === null ? [] : [`git_branch: ${oneLine(row.branch)}`];
  const header = [`thread_id: ${id}`, thread, updatedAt, path, repo, cwd, ...branch];
  return [...header, '', row.rolloutSummary.trim(), ''].join('\n');
}

/** A raw memory that holds a line like a section's heading must not begin a section. */
function unbroken(rawMemory: string): string {
  return rawMemory.trim().replace(/^## Thread `/gm, '\\## Thread `');
}

function oneLine(value: string): string {
  return withoutHidden(value.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ')).trim();
}
