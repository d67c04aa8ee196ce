import type { Hash } from 'node:crypto';
import { basename } from 'node:path';
import { skippableLabel } from './claude-lines.ts';
import { type Notes, newNotes, takeRecord } from './claude-records.ts';
import { filesOfSession, sideFilesOf, sideFolderOf } from './claude-side.ts';
import type { Fields } from './fields.ts';
import { itemList } from './items.ts';
import { eachRecord } from './jsonl.ts';
import { type FileEnd, newHash } from './lines.ts';
import { isOwnRun } from './marker.ts';
import { ignored, type Reader, type Reading, type ReadOptions } from './reader.ts';
import { finalWords } from './turns.ts';
import type { Counts } from './types.ts';

/**
 * Claude Code transcripts, 2.0 to 2.1.332: one line a content block, several lines a message. A session is its file,
 * its sub-agents' files (`<file index>:n`, never a person's words) and its large outputs in `tool-results/`.
 */
export const claudeCodeReader: Reader = {
  agent: 'claude-code',
  sideFolders: true,
  endings: ['.jsonl'],
  filesBeside: filesOfSession,
  read: readClaudeCode,
};

async function readClaudeCode(path: string, options: ReadOptions): Promise<Reading> {
  const hash = newHash();
  const main = newNotes(itemList(options.home), sideFolderOf(path), false);
  const ends = [await readFile(path, hash, main, options)];
  if (ends[0]?.bytes === 0) return ignored('empty');
  if (main.known === 0 || main.sessionId === null) return ignored('not a Claude Code session');
  const startedAt = main.firstAt;
  if (startedAt === null) return ignored('no valid time');
  const sides = await readSides(path, hash, ends, options);
  const isSide = main.items.items.length > 0 && !main.hasMain;
  return {
    outcome: 'session',
    session: {
      id: idOf(path, main.sessionId, isSide),
      origin: originOf(main.entrypoint),
      kind: isOwnRun(main.items.items) ? 'own' : isSide ? 'sub_agent' : 'root',
      cwd: main.cwd,
      branch: main.branch,
      commit: null,
      remote: null,
      startedAt,
      parents: [...main.parents].filter((parent) => parent !== main.sessionId).sort(),
      source: { agent: 'claude-code', ...together(ends), sha256: hash.digest('hex') },
      skipped: summed([main, ...sides].map((notes) => notes.items.counts())),
      items: [
        ...finalWords(main.items.items, main.spoken, main.turnStarts),
        ...sides.flatMap((notes) => notes.items.items),
      ],
      injected: main.items.injected(),
    },
  };
}

async function readFile(path: string, hash: Hash, notes: Notes, options: ReadOptions): Promise<FileEnd> {
  const visitor = {
    list: notes.items,
    skippable: skippableLabel,
    record: (record: Fields, line: number) => takeRecord(record, line, notes),
  };
  return eachRecord(path, hash, visitor, options.signal);
}

async function readSides(path: string, hash: Hash, ends: FileEnd[], options: ReadOptions): Promise<Notes[]> {
  const sides: Notes[] = [];
  for (const [index, side] of (await sideFilesOf(path)).entries()) {
    const notes = newNotes(itemList(options.home, `${index + 1}:`), sideFolderOf(path), true);
    ends.push(await readFile(side, hash, notes, options));
    sides.push(notes);
  }
  return sides;
}

function idOf(path: string, sessionId: string, isSide: boolean): string {
  const name = basename(path, '.jsonl');
  return isSide || /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name) ? name : sessionId;
}

function originOf(entrypoint: string | null): string {
  if (entrypoint === null) return 'cli';
  if (entrypoint.startsWith('sdk')) return 'sdk';
  if (/vscode|jetbrains|desktop|ide/.test(entrypoint)) return 'ide';
  return entrypoint.toLowerCase().slice(0, 40);
}

function together(ends: readonly FileEnd[]): FileEnd {
  return {
    lines: ends.reduce((sum, end) => sum + end.lines, 0),
    bytes: ends.reduce((sum, end) => sum + end.bytes, 0),
  };
}

function summed(all: readonly Counts[]): Counts {
  const sums: Record<string, number> = {};
  for (const counts of all)
    for (const [reason, count] of Object.entries(counts)) sums[reason] = (sums[reason] ?? 0) + count;
  return sums;
}
