import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { MemoryError } from '../../shared/errors.ts';
import { jsonFields } from '../../shared/json.ts';

/** Codex' app server, spoken to over its standard input and output: JSON-RPC, a message a line. */
export interface AppServer {
  readonly pid: number;
  /** @throws MemoryError for an error as the answer, and when the server ends or takes longer than a minute. */
  call(method: string, params: unknown): Promise<unknown>;
  notify(method: string): void;
  /** Closes its input and waits until it is gone; a server that stays is killed. */
  stop(): Promise<void>;
}

const longestWaitMs = 60_000;

export function startAppServer(program: readonly string[], env: NodeJS.ProcessEnv, cwd: string): AppServer {
  const [command = '', ...args] = program;
  const child = spawn(command, [...args, 'app-server'], { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  const said = lastWords(child);
  const waiting = new Map<number, { done(value: unknown): void; fail(error: Error): void }>();
  const fail = (why: string): void => {
    for (const { fail: refuse } of waiting.values()) refuse(codexFailed(why, said()));
    waiting.clear();
  };
  child.on('error', (error) => fail(error.message));
  child.on('exit', (code) => fail(`it ended with ${code}`));
  child.stdin.on('error', () => {});
  createInterface(child.stdout).on('line', (line) => {
    const { id, result, error } = jsonFields(line);
    const waits = typeof id === 'number' ? waiting.get(id) : undefined;
    if (typeof id !== 'number' || waits === undefined) return;
    waiting.delete(id);
    if (error === undefined) waits.done(result);
    else waits.fail(codexFailed(JSON.stringify(error), said()));
  });
  const send = (message: unknown) => child.stdin.write(`${JSON.stringify(message)}\n`);
  let last = 0;
  return {
    pid: child.pid ?? 0,
    call(method, params) {
      last += 1;
      const id = last;
      return new Promise((done, refuse) => {
        const timer = setTimeout(() => refuse(codexFailed(`${method} was not answered`, said())), longestWaitMs);
        const settle =
          <T>(end: (value: T) => void) =>
          (value: T) => {
            clearTimeout(timer);
            end(value);
          };
        waiting.set(id, { done: settle(done), fail: settle(refuse) });
        if (child.exitCode !== null) fail(`it ended with ${child.exitCode}`);
        send({ id, method, params });
      });
    },
    notify: (method) => {
      send({ method });
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await gone;
      clearTimeout(timer);
    },
  };
}

/** What it wrote to standard error at the end, as a sentence. */
function lastWords(child: ChildProcess): () => string {
  let text = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    text = `${text}${chunk}`.slice(-2_000);
  });
  return () => text.trim().split('\n').at(-1) ?? '';
}

function codexFailed(why: string, said: string): MemoryError {
  return new MemoryError(
    `Codex could not be measured: ${why}.${said === '' ? '' : ` It said: ${said.slice(0, 400)}`}`,
    'Its protocol may have changed: try the version that the README names, npm install --prefix <dir> @openai/codex@<version>.',
  );
}
