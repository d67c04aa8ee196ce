import { byBinary } from '../shared/files.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import { type BlockLine, readBlockLines } from '../workspace/block-lines.ts';
import { type BlockSource, blockSources, scopeOf } from '../workspace/handbook.ts';
import { everywhere, type Scope } from '../workspace/layout.ts';
import { normaliseLine } from '../workspace/lines.ts';
import { type BlockHead, bulletSpans, readHead } from '../workspace/read-block.ts';
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
  /** Of its three sections, unread but for where they stand. */
  readonly bullets: readonly OwnBullet[];
  /** When its sessions were last active, by their short ids; '' is the newest of all. ISO times. */
  readonly times: ReadonlyMap<string, string>;
}

export interface OwnBullet {
  readonly kind: BulletKind;
  /** Its lines as they stand. */
  readonly raw: string;
  /** In the handbook, from 1. */
  readonly line: number;
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
    .flatMap((own) =>
      own.bullets.filter((bullet) => bullet.kind === kind).map((bullet) => ({ own, bullet, ...standing(bullet, own) })),
    )
    .sort((a, b) => byNumber(b.sessions, a.sessions) || byBinary(b.newest, a.newest))
    .map(({ own, bullet }) => ({ own, entry: entryOf(own, bullet) }));
}

/** The summary's lines that concern a session: those for all and its own repositories' lines of the index. */
export function summaryEntries(
  summary: string,
  repositories: readonly string[],
): { readonly own: Entry[]; readonly others: Entry[] } {
  const own: Entry[] = [];
  const others: Entry[] = [];
  for (const { heading, lines } of summarySections(summary)) {
    let scope: Scope = everywhere;
    for (const { text, line } of lines) {
      if (heading === '' && text === 'v1') continue;
      if (heading === summaryHeadings.contents && !/^[ \t]/.test(text)) scope = repositoryIn(text) ?? everywhere;
      const entry: Entry = { kind: 'summary', file: 'memory_summary.md', scope, title: heading, line, text };
      (scope === everywhere || repositories.includes(scope) ? own : others).push(entry);
    }
  }
  return { own, others };
}

/** Whether a bullet for all says what the summary says already. */
export function repeats(entry: Entry, said: ReadonlySet<string>): boolean {
  return entry.scope === everywhere && said.has(normaliseLine(entry.text.split(/\s*\n\s*/).join(' ')));
}

/** Of a line of the index, `- <repository>: topics`; null for a line of another form. */
function repositoryIn(line: string): Scope | null {
  return /^- ((?:local:|none(?=:|$)|[^\s:/]+\/)[^\s:]*)(?::? |:?$)/.exec(line)?.[1] ?? null;
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
  const bullets = bulletSpans(lines).flatMap(({ place, start, end }): OwnBullet[] => {
    const kind = kindAt[place];
    if (kind === undefined) return [];
    const text = lines.slice(start, end).map((part) => part.text);
    return [{ kind, raw: text.join('\n'), line: line + start }];
  });
  const references = lines.filter(({ kind }) => kind === 'reference').map(({ text }) => text);
  const lastLine = line + lines.findLastIndex(({ kind }) => kind !== 'blank');
  return [{ ...head, scope, line, lastLine, bullets, times: timesIn(references) }];
}

const kindAt: Readonly<Partial<Record<BlockLine['place'], BulletKind>>> = {
  preferences: 'preference',
  failures: 'failure',
  knowledge: 'knowledge',
};

function timesIn(references: readonly string[]): ReadonlyMap<string, string> {
  const times = new Map<string, string>([['', '']]);
  for (const text of references) {
    const at = /\bupdated_at=(\d{4}-\d{2}-\d{2}[^\s,)]*)/.exec(text)?.[1];
    const thread = /\bthread_id=([^\s,)]+)/.exec(text)?.[1];
    if (at === undefined) continue;
    // Where there is one session its time is the newest, and no hash has to be made.
    if (thread !== undefined && references.length > 1) times.set(shortThreadId(thread), at);
    if (at > (times.get('') ?? '')) times.set('', at);
  }
  return times;
}

/** How many sessions taught a line, and when the newest of them was active. */
function standing({ raw }: OwnBullet, { times }: OwnBlock): { sessions: number; newest: string } {
  const threads = new Set<string>();
  if (raw.includes('@')) for (const [, thread = ''] of raw.matchAll(/\[([a-z2-7]{8})@\d/g)) threads.add(thread);
  let newest = '';
  for (const thread of threads) {
    const at = times.get(thread) ?? '';
    if (at > newest) newest = at;
  }
  return {
    sessions: threads.size === 0 ? Number.POSITIVE_INFINITY : threads.size,
    newest: newest === '' ? (times.get('') ?? '') : newest,
  };
}

function entryOf({ title, scope }: OwnBlock, { kind, line, raw }: OwnBullet): Entry {
  return { kind, file: 'MEMORY.md', scope, title, line, text: raw };
}

function byNumber(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
