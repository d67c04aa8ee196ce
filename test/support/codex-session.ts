import { codexItem, codexMessage, codexMeta } from './sessions.ts';

/** One thing that happened in a session. */
export type Event =
  | { readonly human: string }
  | { readonly says: string }
  | { readonly run: string; readonly out?: string; readonly exit?: number }
  | { readonly edit: readonly string[]; readonly added?: string }
  /** A line as it is. */
  | { readonly raw: string };

export interface CodexSession {
  readonly id: string;
  readonly cwd?: string;
  readonly branch?: string;
  readonly remote?: string;
  /** ISO time of the first record; each further one is a second later. */
  readonly at?: string;
  readonly events: readonly Event[];
}

/** A UUID for the n-th session of a test. */
export function uuid(n: number): string {
  return `01a2a000-0000-7000-8000-${String(n).padStart(12, '0')}`;
}

/** The lines of a session as Codex writes them, one JSON text each; raw lines as they are. */
export function codexLines(session: CodexSession): string[] {
  const { id, cwd = '/home/dana/src/app', branch = 'main', remote, at = '2026-11-29T10:00:00Z' } = session;
  const git = {
    branch,
    commit_hash: 'df60c8cf0b2850bd6cebe34cb3f83d677e2f3bfb',
    ...(remote ? { repository_url: remote } : {}),
  };
  const start = Date.parse(at);
  const records = [
    codexMeta({ id, session_id: id, cwd, timestamp: at, git }),
    ...session.events.flatMap((event, index) => recordsOf(event, index)),
  ];
  return records.map((record, index) =>
    typeof record === 'string'
      ? record
      : JSON.stringify({ ...record, timestamp: new Date(start + index * 1000).toISOString() }),
  );
}

export function codexText(session: CodexSession): string {
  return `${codexLines(session).join('\n')}\n`;
}

/** A session that teaches something: a test that failed, a change, and the test that passes. */
export function aFix(n: number, more: readonly Event[] = [], fields: Partial<CodexSession> = {}): CodexSession {
  return {
    id: uuid(n),
    remote: `https://git.example.test/acme/app-${n}.git`,
    ...fields,
    events: [
      { human: `The tests of module ${n} fail, please fix them.` },
      { run: `pytest tests/test_${n}.py`, exit: 1, out: `AssertionError: ${n} != 0\n` },
      { edit: [`lib/module_${n}.py`] },
      { run: `pytest tests/test_${n}.py`, out: '1 passed\n' },
      ...more,
    ],
  };
}

function recordsOf(event: Event, index: number): (object | string)[] {
  const call = `call_${index}`;
  if ('raw' in event) return [event.raw];
  if ('human' in event) return [codexMessage('user', [event.human], {}, ['user.text'])];
  if ('says' in event) return [codexMessage('assistant', [event.says], { phase: 'final_answer' })];
  if ('run' in event)
    return [
      codexItem({
        type: 'function_call',
        name: 'exec_command',
        call_id: call,
        arguments: JSON.stringify({ cmd: event.run }),
      }),
      codexItem({
        type: 'function_call_output',
        call_id: call,
        output: `Process exited with code ${event.exit ?? 0}\nOutput:\n${event.out ?? ''}`,
      }),
    ];
  const patch = event.edit.map((file) => `*** Update File: ${file}\n@@\n-old\n+${event.added ?? 'new'}\n`).join('');
  return [
    codexItem({
      type: 'custom_tool_call',
      name: 'apply_patch',
      call_id: call,
      input: `*** Begin Patch\n${patch}*** End Patch`,
    }),
    codexItem({
      type: 'custom_tool_call_output',
      call_id: call,
      output: 'Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n',
    }),
  ];
}

/** A session in `acme/shop` in which a person corrects the agent: their words become a preference. */
export function correcting(n: number, words: string, at: string): CodexSession {
  return {
    id: uuid(n),
    remote: 'https://git.example.test/acme/shop.git',
    at,
    events: [
      { human: `Add a helper number ${n} to lib/price${n}.ts` },
      { edit: [`lib/price${n}.ts`], added: 'export const a = 1;' },
      { run: 'npm test', out: 'FAIL lib/price.test.ts', exit: 1 },
      { says: 'I changed it.' },
      { human: words },
      { edit: [`lib/price${n}.ts`], added: 'export const a = 2;' },
      { run: 'npm test', out: 'ok', exit: 0 },
      { says: 'Done.' },
    ],
  };
}

/** Two of them, a day apart. */
export const firstCorrection = correcting(
  1,
  'No, prices are integer cents in lib/price1.ts, never floats.',
  '2026-11-20T10:00:00Z',
);
export const secondCorrection = correcting(
  2,
  'No, use npm test and not jest for lib/price2.ts.',
  '2026-11-21T10:00:00Z',
);
