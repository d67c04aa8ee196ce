import { archivePath } from '../archive/layout.ts';
import { trackingRef } from '../git/remote-types.ts';
import type { Repository } from '../git/types.ts';
import { parseRollout, RolloutError } from '../rollout/canonical.ts';
import { redactRollout } from '../rollout/redacted.ts';
import type { Item, Rollout } from '../rollout/types.ts';
import { citedItems, type ItemNumber } from '../shared/evidence.ts';
import type { Files, Oid } from '../shared/files.ts';
import type { Redactor } from '../shared/redact.ts';
import { sha256 } from '../shared/thread-id.ts';
import type { ExtensionEntry } from '../workspace/extension.ts';
import { rawSections } from '../workspace/inputs.ts';
import { rawMemoriesPath, summaryPath } from '../workspace/layout.ts';
import type { OwnSessions } from './own-sessions.ts';
import type { Session } from './sessions.ts';

/** Where sessions may still be had. */
export interface Archives {
  readonly repository: Repository;
  /** The ref that holds the team's sessions. */
  readonly ref: string;
  readonly own: OwnSessions;
  readonly redactor: Redactor;
}

/** What was said at an item, and where that was read. */
export interface Words {
  readonly n: ItemNumber;
  readonly from: 'rollouts_ref' | 'this_machine' | 'summary' | 'note';
  /** The item's text, redacted; of a summary its line that cites the item. */
  readonly text: string;
  /** Text items right before and after; none of a summary. */
  readonly before: Item | null;
  readonly after: Item | null;
  /** Whether it still is what phase 1 read; null where that cannot be told. */
  readonly unchanged: boolean | null;
}

/**
 * The words of a session's cited items: from the rollouts ref, else from this machine's own sessions, else as the
 * stage-1 output quotes them. An item without words anywhere is left out.
 */
export async function wordsOf(session: Session, files: Files, archives: Archives): Promise<Words[]> {
  if (session.items.length === 0) return [];
  if (session.note !== null) return wordsOfNote(session, session.note);
  const archived = await fromArchive(session, archives);
  const local = archived === null ? await fromMachine(session, archives.own) : null;
  const rollout = archived ?? local;
  const from = archived === null ? 'this_machine' : 'rollouts_ref';
  const quoted = quotesOf(session, files);
  return session.items.flatMap(({ n, row }): Words[] => {
    const at = rollout?.items.findIndex((item) => item.n === n) ?? -1;
    const item = rollout?.items[at];
    if (rollout !== null && item !== undefined) {
      const unchanged = row === null ? null : sha256(item.text).slice(0, 32) === row.hash;
      const { before, after } = around(rollout.items, at);
      return [{ n, from, text: item.text, before, after, unchanged }];
    }
    const text = quoted(n);
    return text === null ? [] : [{ n, from: 'summary', text, before: null, after: null, unchanged: null }];
  });
}

/** A note is one item; of an imported file each line is one. */
function wordsOfNote({ items }: Session, { kind, body }: ExtensionEntry): Words[] {
  const lines = body.split('\n');
  return items.flatMap(({ n }): Words[] => {
    const text = kind === 'note' ? body : (lines[Number(n) - 1] ?? '');
    return text.trim() === '' ? [] : [{ n, from: 'note', text, before: null, after: null, unchanged: null }];
  });
}

async function fromArchive({ threadId, thread }: Session, archives: Archives): Promise<Rollout | null> {
  if (threadId === null || thread === null) return null;
  const { repository, ref, redactor } = archives;
  const path = archivePath({ id: threadId, startedAt: thread.startedAt });
  for (const name of [ref, trackingRef(ref)]) {
    const commit = await repository.readRef(name);
    const rollout = commit === null ? null : await rolloutAt(repository, commit, path);
    if (rollout !== null) return redactRollout(rollout, redactor);
  }
  return null;
}

async function fromMachine({ threadId, thread }: Session, own: OwnSessions): Promise<Rollout | null> {
  return threadId === null ? null : own.read(threadId, thread?.agent ?? null);
}

/** @returns null where there is none, or none that can be read: another place may have it. */
async function rolloutAt(repository: Repository, commit: Oid, path: string): Promise<Rollout | null> {
  const oid = (await repository.listFiles(commit, [path])).get(path);
  if (oid === undefined) return null;
  const [bytes] = await repository.readBlobs([oid]);
  try {
    return parseRollout((bytes ?? Buffer.alloc(0)).toString('utf8'));
  } catch (error) {
    if (error instanceof RolloutError) return null;
    throw error;
  }
}

function around(items: readonly Item[], at: number): { before: Item | null; after: Item | null } {
  const isWords = ({ kind }: Item) => kind === 'text';
  return { before: items.slice(0, at).findLast(isWords) ?? null, after: items.slice(at + 1).find(isWords) ?? null };
}

/** What the stage-1 output says with an item as its evidence: from the state, else from the files made of it. */
function quotesOf({ output, threadId }: Session, files: Files): (n: ItemNumber) => string | null {
  const stem = output?.stem ?? stemFor(threadId, files);
  const texts = [
    output?.rolloutSummary ?? files.get(summaryPath(stem)) ?? '',
    output?.rawMemory ??
      rawSections(files.get(rawMemoriesPath) ?? '').find((each) => each.threadId === threadId)?.body ??
      '',
  ];
  const lines = texts.flatMap((text) => text.split('\n'));
  return (n) => lines.find((line) => citedItems(line).includes(n))?.trim() ?? null;
}

function stemFor(threadId: string | null, files: Files): string {
  const section = rawSections(files.get(rawMemoriesPath) ?? '').find((each) => each.threadId === threadId);
  return section?.header.rollout_summary_file?.replace(/\.md$/, '') ?? '';
}
