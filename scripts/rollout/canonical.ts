import { MemoryError } from '../shared/errors.ts';
import { byBinary } from '../shared/files.ts';
import { fitsAName } from '../shared/safe-path.ts';
import { type Fields, isFields } from './fields.ts';
import { isShortId, type MemorySeen, maxSeenIds } from './memory-seen.ts';
import {
  type Agent,
  agents,
  type Counts,
  type Does,
  type Item,
  type Kind,
  type Rollout,
  type Thread,
  type Who,
} from './types.ts';

const rolloutFormat = 'ctm-rollout';
const rolloutVersion = 1;

export class RolloutError extends MemoryError {
  readonly line: number;

  constructor(line: number, reason: string, hint = 'Collect this session again; the stored copy cannot be used.') {
    super(`Canonical rollout, line ${line}: ${reason}.`, hint);
    this.line = line;
  }
}

/** A rollout as JSONL: one header, then an item a line, keys in a fixed order, LF at the end. */
export function writeRollout(rollout: Rollout): string {
  const { thread, source, skipped, redaction, memory, items } = rollout;
  const header = {
    format: rolloutFormat,
    version: rolloutVersion,
    thread: {
      id: thread.id,
      agent: thread.agent,
      origin: thread.origin,
      kind: thread.kind,
      repo: thread.repo,
      aliases: thread.aliases,
      cwd: thread.cwd,
      branch: thread.branch,
      commit: thread.commit,
      author: thread.author,
      title: thread.title,
      started_at: thread.startedAt,
      updated_at: thread.updatedAt,
    },
    source: { agent: source.agent, lines: source.lines, bytes: source.bytes, sha256: source.sha256 },
    skipped: sorted(skipped),
    redaction: sorted(redaction),
    memory: memory && {
      injected: memory.injected,
      retrieved: memory.retrieved,
      read: memory.read,
      citing: memory.citing,
    },
  };
  return [header, ...items.map(itemRow)].map((row) => `${JSON.stringify(row)}\n`).join('');
}

/**
 * The rollout that `writeRollout` wrote; writing it again gives the same bytes.
 * @throws RolloutError with the line for anything else, and for a newer version.
 */
export function parseRollout(text: string): Rollout {
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new RolloutError(lines.length + 1, 'the last line has no end, so it was cut');
  const [first, ...rest] = lines;
  if (first === undefined) throw new RolloutError(1, 'the file is empty');
  const header = objectAt(first, 1);
  checkFormat(header);
  const at = fieldReader(1);
  const thread = at.object(header, 'thread');
  const source = at.object(header, 'source');
  return {
    thread: {
      id: at.text(thread, 'id'),
      agent: at.oneOf<Agent>(thread, 'agent', agents),
      origin: at.text(thread, 'origin'),
      kind: at.oneOf<Thread['kind']>(thread, 'kind', threadKinds),
      repo: repositoryOf(at.text(thread, 'repo')),
      aliases: at.texts(thread, 'aliases'),
      cwd: at.text(thread, 'cwd'),
      branch: at.textOrNull(thread, 'branch'),
      commit: at.textOrNull(thread, 'commit'),
      author: at.textOrNull(thread, 'author'),
      title: at.text(thread, 'title'),
      startedAt: at.whole(thread, 'started_at'),
      updatedAt: at.whole(thread, 'updated_at'),
    },
    source: {
      agent: at.oneOf<Agent>(source, 'agent', agents),
      lines: at.whole(source, 'lines'),
      bytes: at.whole(source, 'bytes'),
      sha256: at.text(source, 'sha256'),
    },
    skipped: at.counts(header, 'skipped'),
    redaction: at.counts(header, 'redaction'),
    ...(header.memory === undefined ? {} : { memory: parseMemory(at.object(header, 'memory')) }),
    items: rest.map((line, index) => parseItem(objectAt(line, index + 2), index + 2)),
  };
}

function repositoryOf(id: string): string {
  if (!fitsAName(id)) throw new RolloutError(1, 'the name of its repository is too long');
  return id;
}

const threadKinds: readonly Thread['kind'][] = ['root', 'sub_agent', 'ephemeral', 'own'];
const whos: readonly Who[] = ['human', 'assistant', 'commentary', 'other_agent', 'harness', 'tool'];
const kinds: readonly Kind[] = ['text', 'call', 'output'];
const allDoes: readonly Does[] = ['shell', 'edit', 'read', 'search', 'web', 'mcp', 'agent', 'other'];

function itemRow(item: Item): object {
  const { n, at, who, kind, text, tool, does, call, exit, files, src } = item;
  const number = /^[1-9]\d{0,8}$/.test(n) ? Number(n) : n;
  return { n: number, at, who, kind, text, tool, does, call, exit, files, src: { line: src.line, id: src.id } };
}

function sorted(counts: Counts): Counts {
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => byBinary(a, b)));
}

function checkFormat(header: Fields): void {
  if (header.format !== rolloutFormat) throw new RolloutError(1, `this is no ${rolloutFormat} file`);
  const { version } = header;
  if (typeof version === 'number' && version > rolloutVersion)
    throw new RolloutError(
      1,
      `version ${version} was written by a newer commit-to-memory; this one reads up to ${rolloutVersion}`,
      'Update this checkout to the version that the team runs, then try again.',
    );
  if (version !== rolloutVersion) throw new RolloutError(1, '"version" is not 1');
}

function parseMemory(row: Fields): MemorySeen {
  const at = fieldReader(1);
  const ids = (key: string): string[] => {
    const found = at.texts(row, key);
    if (found.length > maxSeenIds || !found.every(isShortId))
      throw new RolloutError(1, `"${key}" is no list of at most ${maxSeenIds} short ids`);
    return found;
  };
  return { injected: ids('injected'), retrieved: ids('retrieved'), read: ids('read'), citing: at.whole(row, 'citing') };
}

function parseItem(row: Fields, line: number): Item {
  const at = fieldReader(line);
  const src = at.object(row, 'src');
  return {
    n: itemNumber(row.n, line),
    at: row.at === null ? null : at.whole(row, 'at'),
    who: at.oneOf(row, 'who', whos),
    kind: at.oneOf(row, 'kind', kinds),
    text: at.text(row, 'text'),
    ...(row.tool === undefined ? {} : { tool: at.text(row, 'tool') }),
    ...(row.does === undefined ? {} : { does: at.oneOf(row, 'does', allDoes) }),
    ...(row.call === undefined ? {} : { call: at.text(row, 'call') }),
    ...(row.exit === undefined ? {} : { exit: at.whole(row, 'exit') }),
    ...(row.files === undefined ? {} : { files: at.texts(row, 'files') }),
    src: { line: at.whole(src, 'line'), ...(src.id === undefined ? {} : { id: at.text(src, 'id') }) },
  };
}

function itemNumber(value: unknown, line: number): string {
  const n = typeof value === 'number' ? String(value) : value;
  if (typeof n !== 'string' || !/^(?:\d{1,6}:)?\d{1,9}(?:\.\d{1,6})?$/.test(n))
    throw new RolloutError(line, '"n" is no item number');
  return n;
}

function objectAt(text: string, line: number): Fields {
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new RolloutError(line, `no JSON (${error.message.slice(0, 120)})`);
  }
  throw new RolloutError(line, 'no JSON object');
}

function fieldReader(line: number) {
  const wrong = (key: string, wanted: string): RolloutError => new RolloutError(line, `"${key}" is no ${wanted}`);
  return {
    object(from: Fields, key: string): Fields {
      const value = from[key];
      if (!isFields(value)) throw wrong(key, 'object');
      return value;
    },
    text(from: Fields, key: string): string {
      const value = from[key];
      if (typeof value !== 'string') throw wrong(key, 'text');
      return value;
    },
    textOrNull(from: Fields, key: string): string | null {
      const value = from[key];
      if (value !== null && typeof value !== 'string') throw wrong(key, 'text or null');
      return value;
    },
    whole(from: Fields, key: string): number {
      const value = from[key];
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(key, 'whole number');
      return value;
    },
    texts(from: Fields, key: string): string[] {
      const value = from[key];
      if (!Array.isArray(value) || value.some((entry) => typeof entry !== 'string')) throw wrong(key, 'list of texts');
      return value as string[];
    },
    oneOf<T extends string>(from: Fields, key: string, all: readonly T[]): T {
      const found = all.find((candidate) => candidate === from[key]);
      if (found === undefined) throw wrong(key, `one of ${all.join(', ')}`);
      return found;
    },
    counts(from: Fields, key: string): Counts {
      const value = from[key];
      if (!isFields(value) || Object.values(value).some((count) => !Number.isSafeInteger(count)))
        throw wrong(key, 'object of counts');
      return value as Counts;
    },
  };
}
