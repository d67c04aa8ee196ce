import { byBinary } from '../shared/files.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import { readBlockLines } from '../workspace/block-lines.ts';
import { type BlockSource, type Bullet, blockSources, scopeOf } from '../workspace/handbook.ts';
import { everywhere, type Scope } from '../workspace/layout.ts';
import { normaliseLine } from '../workspace/lines.ts';
import { type BlockHead, bulletsAt, readHead } from '../workspace/read-block.ts';
import { summaryHeadings, summarySections } from '../workspace/summary-sections.ts';

/** The two memory files that a session is given lines of; '' for one that is missing. */
export interface MemoryTexts {
  readonly handbook: string;
  readonly summary: string;
}

export type EntryKind = 'summary' | 'preference' | 'failure' | 'knowledge' | 'block';

/** The least that is given or left out: a line of the summary, a bullet, or another repository's whole block. */
export interface Entry {
  readonly kind: EntryKind;
  readonly file: 'MEMORY.md' | 'memory_summary.md';
  /** null: the block names no repository. */
  readonly scope: Scope | null;
  /** Of the block, or the summary's heading. */
  readonly title: string;
  /** In its file, from 1. */
  readonly line: number;
  /** As it stands there; '' for a block. */
  readonly text: string;
}

/** A block that applies to a session, as far as recall needs it. */
export interface OwnBlock extends BlockHead {
  readonly scope: Scope;
  /** In the handbook, from 1. */
  readonly line: number;
  readonly lastLine: number;
  readonly preferences: readonly Bullet[];
  readonly failures: readonly Bullet[];
  readonly knowledge: readonly Bullet[];
  /** Lines that name the sessions it was learned from. */
  readonly references: readonly string[];
  readonly raw: string;
}

type BulletKind = 'preference' | 'failure' | 'knowledge';

/** A bullet with the block that it stands in. */
export interface Ranked {
  readonly own: OwnBlock;
  readonly entry: Entry;
}

/** The blocks that apply to a repository by exact id, or to all (`*`), as they stand in the handbook. */
export function blocksFor(handbook: string, repositories: readonly string[]): OwnBlock[] {
  const wanted = new Set<Scope>([...repositories, everywhere]);
  return blockSources(handbook)
    .filter(({ raw }) => mayApply(raw, wanted))
    .flatMap((source) => readOwn(source, wanted));
}

/** The other blocks, by their headings alone. */
export function otherBlocks(handbook: string, own: readonly OwnBlock[]): Entry[] {
  const lines = new Set(own.map(({ line }) => line));
  return blockSources(handbook)
    .filter(({ line }) => !lines.has(line))
    .map(({ raw, line }) => {
      const head = readHead(readBlockLines(raw));
      return { kind: 'block', file: 'MEMORY.md', scope: scopeOf(head), title: head.title, line, text: '' };
    });
}

/**
 * The bullets of one kind of several blocks, best first. The handbook does not carry how often a line was cited (that is
 * bookkeeping, which the read path never opens); what it does carry is how many sessions taught a line. So: a person's
 * own lines, then what most sessions taught, then the newest, then the order in which the consolidation put them.
 */
export function ranked(blocks: readonly OwnBlock[], kind: BulletKind): Ranked[] {
  return blocks
    .flatMap((own) => {
      const times = timesOf(own);
      return bulletsOfKind(own, kind).map((bullet) => ({
        ranked: { own, entry: bulletEntry(own, kind, bullet) },
        sessions: bullet.evidence.length === 0 ? Number.POSITIVE_INFINITY : bullet.evidence.length,
        newest: newestOf(bullet, times),
      }));
    })
    .sort((a, b) => byNumber(b.sessions, a.sessions) || byBinary(b.newest, a.newest))
    .map(({ ranked: found }) => found);
}

/** The summary's lines that concern a session: those for all and its own repositories' lines of the index. */
export function summaryEntries(
  summary: string,
  repositories: readonly string[],
): { readonly own: Entry[]; readonly others: Entry[] } {
  const own: Entry[] = [];
  const others: Entry[] = [];
  for (const { heading, lines } of summarySections(summary)) {
    for (const { text, line } of lines) {
      if (heading === '' && text === 'v1') continue;
      const entry = {
        kind: 'summary',
        file: 'memory_summary.md',
        scope: everywhere,
        title: heading,
        line,
        text,
      } as const;
      const repository = heading === summaryHeadings.contents ? /^- ([^\s]+?)(?::? |:?$)/.exec(text)?.[1] : undefined;
      if (repository === undefined) own.push(entry);
      else if (repositories.includes(repository)) own.push({ ...entry, scope: repository });
      else others.push({ ...entry, scope: repository });
    }
  }
  return { own, others };
}

/** Whether a bullet for all says what the summary says already. */
export function repeats(entry: Entry, said: ReadonlySet<string>): boolean {
  return entry.scope === everywhere && said.has(normaliseLine(entry.text.split(/\s*\n\s*/).join(' ')));
}

/** By its text alone, as to read a block takes long; `scopeOf` has the last word. */
function mayApply(raw: string, wanted: ReadonlySet<Scope>): boolean {
  return [...raw.matchAll(/applies_to:[ \t]*repo=([^;\r\n]*)/g)].some((match) => wanted.has((match[1] ?? '').trim()));
}

function readOwn({ raw, line }: BlockSource, wanted: ReadonlySet<Scope>): OwnBlock[] {
  const lines = readBlockLines(raw);
  const head = readHead(lines);
  const scope = scopeOf(head);
  if (scope === null || !wanted.has(scope)) return [];
  const own: OwnBlock = {
    ...head,
    scope,
    line,
    lastLine: line + raw.trimEnd().split('\n').length - 1,
    preferences: bulletsAt(lines, 'preferences', line),
    failures: bulletsAt(lines, 'failures', line),
    knowledge: bulletsAt(lines, 'knowledge', line),
    references: lines.flatMap(({ kind, text }) => (kind === 'reference' ? [text] : [])),
    raw,
  };
  return [own];
}

function bulletsOfKind(block: OwnBlock, kind: BulletKind): readonly Bullet[] {
  switch (kind) {
    case 'preference':
      return block.preferences;
    case 'failure':
      return block.failures;
    case 'knowledge':
      return block.knowledge;
  }
}

/** `updated_at` of the block's sessions by short thread id; '' is the newest of all. */
function timesOf({ references }: OwnBlock): ReadonlyMap<string, string> {
  const times = new Map<string, string>([['', '']]);
  for (const text of references) {
    const at = /\bupdated_at=(\d{4}-\d{2}-\d{2}[^\s,)]*)/.exec(text)?.[1];
    const thread = /\bthread_id=([^\s,)]+)/.exec(text)?.[1];
    if (at === undefined) continue;
    if (thread !== undefined) times.set(shortThreadId(thread), at);
    if (at > (times.get('') ?? '')) times.set('', at);
  }
  return times;
}

function newestOf({ evidence }: Bullet, times: ReadonlyMap<string, string>): string {
  let newest = '';
  for (const { thread } of evidence) {
    const at = times.get(thread) ?? '';
    if (at > newest) newest = at;
  }
  return newest === '' ? (times.get('') ?? '') : newest;
}

function bulletEntry({ title, scope }: OwnBlock, kind: BulletKind, { line, raw }: Bullet): Entry {
  return { kind, file: 'MEMORY.md', scope, title, line, text: raw };
}

function byNumber(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
