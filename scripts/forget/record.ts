import { writeFile } from 'node:fs/promises';
import { type EpochSeconds, isoTime } from '../shared/clock.ts';
import { MemoryError } from '../shared/errors.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import { listCitations } from '../state/citations.ts';
import { evidenceOf } from '../state/evidence.ts';
import { listOutputs } from '../state/outputs.ts';
import { listThreads } from '../state/threads.ts';
import { parseHandbook } from '../workspace/handbook.ts';
import { handbookPath } from '../workspace/layout.ts';
import { unitsOf } from '../workspace/lines.ts';
import { type Held, sessionsIn } from './held.ts';

/** Everything that is held about a person, as it is stored: without the secrets that were removed before. */
export async function recordOf(author: string, held: Held, now: EpochSeconds, signal?: AbortSignal): Promise<object> {
  const { state, memories } = held;
  const threads = listThreads(state).filter((thread) => thread.author === author);
  const ids = new Set(threads.map(({ threadId }) => threadId));
  const sessions = [];
  for await (const session of sessionsIn(held, (thread) => thread.author === author || ids.has(thread.id), signal)) {
    ids.add(session.thread.id);
    sessions.push(session);
  }
  const shorts = new Set([...ids].map(shortThreadId));
  const lines = [...memories].flatMap(([path, text]) =>
    (path === handbookPath ? parseHandbook(text).blocks.flatMap(unitsOf) : []).flatMap(({ raw, line, evidence }) =>
      evidence.some(({ thread }) => shorts.has(thread)) ? [{ path, line, text: raw }] : [],
    ),
  );
  return {
    format: 'ctm-record',
    version: 1,
    author,
    at: isoTime(now),
    threads,
    outputs: listOutputs(state).filter(({ threadId }) => ids.has(threadId)),
    evidence: [...ids].flatMap((thread) => evidenceOf(state, thread)),
    citations: listCitations(state).filter(
      (row) => row.author === author || ids.has(row.cited) || ids.has(row.citingThread),
    ),
    lines,
    sessions,
  };
}

/** Readable by its owner only; nothing that is there is written over. */
export async function writeRecord(path: string, record: object): Promise<void> {
  try {
    await writeFile(path, `${JSON.stringify(record, null, 2)}\n`, { flag: 'wx', mode: 0o600, flush: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new MemoryError(
      code === 'EEXIST'
        ? `${path} is there already; nothing was forgotten.`
        : `${path} cannot be written (${code ?? 'unknown reason'}); nothing was forgotten.`,
      'Name another file with --export.',
      { cause: error },
    );
  }
}
