import { join } from 'node:path';
import { writeFiles } from './repository.ts';

/** What happened in a session, in order. Each entry is one record, so item numbers count up by one from 2. */
export type Happening =
  | { readonly human: string }
  | { readonly says: string }
  /** A command and what it printed: two records. */
  | { readonly run: string; readonly out: string; readonly exit?: number };

export interface WrittenSession {
  readonly id: string;
  /** The folder that it took place in. */
  readonly cwd: string;
  /** ISO time of its first record; one second passes between two. */
  readonly at: string;
  readonly happened: readonly Happening[];
}

/** A thread id for the n-th session of a test. */
export function threadId(n: number): string {
  return `01980000-0000-7000-8000-${String(n).padStart(12, '0')}`;
}

/** Writes sessions below a folder as Codex does, one file each. A session that is written again has grown. */
export function writeSessions(folder: string, sessions: readonly WrittenSession[]): void {
  writeFiles(
    folder,
    Object.fromEntries(
      sessions.map((session) => [
        join(session.at.slice(0, 10), `rollout-${session.at.slice(0, 19).replace(/:/g, '-')}-${session.id}.jsonl`),
        linesOf(session),
      ]),
    ),
  );
}

function linesOf({ id, cwd, at, happened }: WrittenSession): string {
  const start = Date.parse(at);
  const records: object[] = [{ type: 'session_meta', payload: { id, timestamp: at, cwd, source: 'cli' } }];
  for (const [index, event] of happened.entries()) {
    if ('human' in event) records.push(message('user', event.human));
    else if ('says' in event) records.push(message('assistant', event.says));
    else {
      const call = `call_${index}`;
      records.push(
        item({
          type: 'function_call',
          name: 'shell',
          call_id: call,
          arguments: JSON.stringify({ command: ['sh', '-c', event.run] }),
        }),
      );
      const output = JSON.stringify({ output: event.out, metadata: { exit_code: event.exit ?? 0 } });
      records.push(item({ type: 'function_call_output', call_id: call, output }));
    }
  }
  return records
    .map(
      (record, index) => `${JSON.stringify({ timestamp: new Date(start + index * 1000).toISOString(), ...record })}\n`,
    )
    .join('');
}

function message(role: 'user' | 'assistant', text: string): object {
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return item({
    type: 'message',
    role,
    content: [{ type, text }],
    ...(role === 'assistant' ? { phase: 'final_answer' } : {}),
  });
}

function item(payload: object): object {
  return { type: 'response_item', payload };
}
