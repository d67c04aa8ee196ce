import { indexOfByte, lineFeed } from '../shared/bytes.ts';
import { byBinary } from '../shared/files.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import { type BlockLine, hasFences, LineReader } from '../workspace/block-lines.ts';
import type { GroupBytes } from '../workspace/groups-naming.ts';
import { everywhere, type Scope } from '../workspace/layout.ts';
import { readHead, readScope } from '../workspace/read-block.ts';
import type { Entry } from './entries.ts';

/** A block that applies to a session, as far as recall needs it. */
export interface OwnBlock {
  readonly bytes: Buffer;
  /** In the handbook, from 1. */
  readonly line: number;
  readonly lastLine: number;
  readonly scope: Scope;
  /** Its lines before the first section. */
  readonly head: readonly BlockLine[];
  /** Of its three sections. */
  readonly bullets: readonly OwnBullet[];
}

export type BulletKind = 'preference' | 'failure' | 'knowledge';

/**
 * A bullet with the block that it stands in. It stays bytes until `entryOf`: a session is given a few dozen of what may
 * be thousands, and to collect what their texts would take of memory costs it more time than all else.
 */
export interface OwnBullet extends Standing {
  readonly own: OwnBlock;
  readonly kind: BulletKind;
  /** In the handbook, from 1. */
  readonly line: number;
  /** In the block's bytes, its continuation with it, without the last line end. */
  readonly from: number;
  readonly to: number;
}

/** What tells how well founded a bullet is. */
interface Standing {
  /** How many taught it; infinite where a person wrote it, without evidence. */
  readonly sessions: number;
  /** When the newest of them was active: ISO time, '' where none is known. */
  readonly newest: string;
}

/** When the sessions of a block were last active: ISO times. */
interface Times {
  /** '' where none is known. */
  readonly newest: string;
  /** By their short ids; null where there is one at most, whose time is the newest. */
  readonly byThread: ReadonlyMap<string, string> | null;
}

/** The blocks that apply to a repository by exact id, or to all (`*`), as they stand in the handbook. */
export function blocksFor(groups: readonly GroupBytes[], repositories: readonly Scope[]): OwnBlock[] {
  const wanted = scopesFor(repositories);
  return groups.map(readOwn).filter(({ scope }) => wanted.includes(scope));
}

/** For whom a block has to speak that a session in these repositories may be given. */
export function scopesFor(repositories: readonly Scope[]): Scope[] {
  return [...repositories, everywhere];
}

/**
 * The bullets of several blocks, best first: those of the session's repositories before what holds everywhere, of either
 * the preferences, failures, knowledge. The handbook does not carry how often a line was cited (that is bookkeeping, which
 * the read path never opens); what it does carry is how many sessions taught a line. So within a kind: a person's own
 * lines, then what most sessions taught, then the newest, then the order in which the consolidation put them.
 */
export function ranked(blocks: readonly OwnBlock[]): OwnBullet[] {
  const [own, shared] = [listsByKind(), listsByKind()];
  blocks.forEach(({ scope, bullets }) => {
    const lists = scope === everywhere ? shared : own;
    bullets.forEach((bullet) => {
      lists[bullet.kind].push(bullet);
    });
  });
  return [own, shared].flatMap(({ preference, failure, knowledge }) => [
    ...preference.sort(byStanding),
    ...failure.sort(byStanding),
    ...knowledge.sort(byStanding),
  ]);
}

export function entryOf({ own: { bytes, scope, head }, kind, line, from, to }: OwnBullet): Entry {
  return { kind, file: 'MEMORY.md', scope, title: readHead(head).title, line, text: textOf(bytes, from, to) };
}

function listsByKind(): Record<BulletKind, OwnBullet[]> {
  return { preference: [], failure: [], knowledge: [] };
}

function byStanding(a: Standing, b: Standing): number {
  return a.sessions === b.sessions ? byBinary(b.newest, a.newest) : b.sessions < a.sessions ? -1 : 1;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** One reading of a block's lines, of which only those become text that are no bullets. `scope` is '' for one without. */
function readOwn({ bytes, line: firstLine }: GroupBytes): OwnBlock {
  const isPlain = !hasFences(bytes);
  const reader = new LineReader(!isPlain);
  const head: BlockLine[] = [];
  const references: string[] = [];
  const bullets: Writable<OwnBullet>[] = [];
  const own: Writable<OwnBlock> = { bytes, line: firstLine, lastLine: firstLine, scope: '', head, bullets };
  let open: Writable<OwnBullet> | null = null;
  let line = firstLine;
  for (let from = 0; from < bytes.length; line += 1) {
    const end = indexOfByte(bytes, lineFeed, from);
    const to = end === -1 ? bytes.length : end;
    const text = isPlain && beginsBullet(bytes, from) ? '- ' : textOf(bytes, from, to);
    reader.read(text);
    const { kind, place, fenced } = reader;
    if (kind === 'title' || kind === 'scope' || kind === 'applies_to') head.push({ text, kind, place, fenced });
    if (kind === 'reference') references.push(textOf(bytes, from, to));
    if (kind === 'continuation' && open !== null) open.to = to;
    if (kind !== 'continuation' && kind !== 'blank') open = null;
    const section = kind === 'bullet' ? kindAt[place] : undefined;
    if (section !== undefined) {
      open = { own, kind: section, line, from, to, sessions: 0, newest: '' };
      bullets.push(open);
    }
    if (kind !== 'blank') own.lastLine = line;
    from = to + 1;
  }
  own.scope = readScope(head) ?? '';
  const times = timesIn(references);
  bullets.forEach((bullet) => {
    setStanding(bullet, times);
  });
  return own;
}

const kindAt: Readonly<Partial<Record<BlockLine['place'], BulletKind>>> = {
  preferences: 'preference',
  failures: 'failure',
  knowledge: 'knowledge',
};

/** `- `, `* ` or `+ `, or with a tab. */
function beginsBullet(bytes: Buffer, at: number): boolean {
  const mark = bytes[at];
  const space = bytes[at + 1];
  return (mark === 0x2d || mark === 0x2a || mark === 0x2b) && (space === 0x20 || space === 0x09);
}

/** Of whole lines, with LF between them. */
function textOf(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString('utf8', from, to);
  return text.includes('\r') ? text.replace(/\r(?=\n|$)/g, '') : text;
}

function timesIn(references: readonly string[]): Times {
  const byThread = references.length < 2 ? null : new Map<string, string>();
  let newest = '';
  for (let index = 0; index < references.length; index += 1) {
    const text = references[index] ?? '';
    const at = updatedAt.exec(text)?.[1] ?? '';
    if (at > newest) newest = at;
    if (at === '' || byThread === null) continue;
    const thread = threadId.exec(text)?.[1];
    if (thread !== undefined) byThread.set(shortThreadId(thread), at);
  }
  return { newest, byThread };
}

const updatedAt = /\bupdated_at=(\d{4}-\d{2}-\d{2}[^\s,)]*)/;
const threadId = /\bthread_id=([^\s,)]+)/;

function setStanding(bullet: Writable<OwnBullet>, { newest, byThread }: Times): void {
  const { bytes } = bullet.own;
  const first = nextEvidence(bullet, bullet.from);
  const second = first === -1 ? -1 : nextEvidence(bullet, first + 1);
  bullet.sessions = first === -1 ? Number.POSITIVE_INFINITY : 1;
  bullet.newest = newest;
  if (first === -1 || (second === -1 && byThread === null)) return;
  const threads = new Set<string>();
  for (let at = first; at !== -1; at = nextEvidence(bullet, at + 1)) threads.add(threadAt(bytes, at));
  bullet.sessions = threads.size;
  let last = '';
  for (const thread of threads) {
    const at = byThread?.get(thread) ?? '';
    if (at > last) last = at;
  }
  if (last !== '') bullet.newest = last;
}

/** Where the sign of an evidence stands, `@` in `[k3f7x2ab@8`; -1 where the bullet has no more. */
function nextEvidence({ own: { bytes }, from: start, to }: OwnBullet, from: number): number {
  for (let at = indexOfByte(bytes, sign, from); at !== -1 && at < to; at = indexOfByte(bytes, sign, at + 1))
    if (at - 9 >= start && isEvidence(bytes, at)) return at;
  return -1;
}

const sign = 0x40;

/** The short id before a sign. */
function threadAt(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at - 8, at);
}

/** Whether a thread's short id stands before the sign and an item's number behind it. */
function isEvidence(bytes: Buffer, at: number): boolean {
  const digit = bytes[at + 1] ?? 0;
  if (bytes[at - 9] !== 0x5b || digit < 0x30 || digit > 0x39) return false;
  for (let place = at - 8; place < at; place += 1) {
    const byte = bytes[place] ?? 0;
    if ((byte < 0x61 || byte > 0x7a) && (byte < 0x32 || byte > 0x37)) return false;
  }
  return true;
}
