import { byBinary } from '../shared/files.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import { type BlockLine, readBlockLines } from '../workspace/block-lines.ts';
import { groupsNaming } from '../workspace/groups-naming.ts';
import { type BlockSource, blockSources, scopeOf } from '../workspace/handbook.ts';
import { everywhere, type Scope } from '../workspace/layout.ts';
import { normaliseLine } from '../workspace/lines.ts';
import { type BlockHead, bulletSpans, readHead } from '../workspace/read-block.ts';
import { summaryHeadings, summarySections } from '../workspace/summary-sections.ts';

/** The two memory files that a session is given lines of; empty for one that is missing. */
export interface MemoryTexts {
  /** Bytes of UTF-8 without a mark, since most of them are another repository's and never become text. */
  readonly handbook: Buffer;
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
  /** Of its three sections. */
  readonly bullets: readonly Entry[];
  /** When its sessions were last active, by their short ids; '' is the newest of all. ISO times. */
  readonly times: ReadonlyMap<string, string>;
}

type BulletKind = 'preference' | 'failure' | 'knowledge';

/** A bullet with the block that it stands in. */
export interface Ranked {
  readonly own: OwnBlock;
  readonly entry: Entry;
}

/** The blocks that apply to a repository by exact id, or to all (`*`), as they stand in the handbook. */
export function blocksFor(handbook: Buffer, repositories: readonly string[]): OwnBlock[] {
  const wanted = [...repositories, everywhere];
  return groupsNaming(handbook, wanted).flatMap((source) => readOwn(source, wanted));
}

/** The other blocks, by their headings alone. */
export function otherBlocks(handbook: Buffer, own: readonly OwnBlock[]): Entry[] {
  const lines = new Set(own.map(({ line }) => line));
  return blockSources(handbook.toString('utf8'))
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
    .flatMap((own) => own.bullets.filter((entry) => entry.kind === kind).map((entry) => standing(entry, own)))
    .sort((a, b) => byNumber(b.sessions, a.sessions) || byBinary(b.newest, a.newest));
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

function readOwn({ raw, line }: Pick<BlockSource, 'raw' | 'line'>, wanted: readonly Scope[]): OwnBlock[] {
  const lines = readBlockLines(raw);
  const head = readHead(lines);
  const scope = scopeOf(head);
  if (scope === null || !wanted.includes(scope)) return [];
  const bullets: Entry[] = [];
  for (const { place, start, end } of bulletSpans(lines)) {
    const kind = kindAt[place];
    if (kind === undefined) continue;
    const text = lines.slice(start, end).map((part) => part.text);
    bullets.push({ kind, file: 'MEMORY.md', scope, title: head.title, line: line + start, text: text.join('\n') });
  }
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

interface Standing extends Ranked {
  /** How many taught it. */
  readonly sessions: number;
  /** When the newest of them was active. */
  readonly newest: string;
}

function standing(entry: Entry, own: OwnBlock): Standing {
  const { times } = own;
  const threads = new Set(entry.text.includes('@') ? entry.text.match(evidence) : null);
  let newest = '';
  for (const thread of threads) {
    const at = times.get(thread.slice(1, 9)) ?? '';
    if (at > newest) newest = at;
  }
  const sessions = threads.size === 0 ? Number.POSITIVE_INFINITY : threads.size;
  return { own, entry, sessions, newest: newest === '' ? (times.get('') ?? '') : newest };
}

/** Up to the first line's number. */
const evidence = /\[[a-z2-7]{8}@(?=\d)/g;

function byNumber(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
