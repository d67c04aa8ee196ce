import { spawn } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { stopwatch } from '../../shared/clock.ts';
import { MemoryError, UsageError } from '../../shared/errors.ts';
import { familyOf, residentOf, usageOf } from './processes.ts';

/** What a program took from its start to its end, with all that it started and waited for. */
export interface Taken {
  readonly cpuMs: number;
  readonly wallMs: number;
  /** The most that it and its children held at one time, as far as it was seen. */
  readonly peakBytes: number;
}

export interface Started {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

const pollMs = 25;

/**
 * Runs a program to its end, without a shell. Nothing else that this process started may end meanwhile: the processor
 * time is that of all children that were waited for.
 * @throws UsageError where it cannot be started, MemoryError where it fails.
 */
export async function runProgram({ argv, cwd, env, signal }: Started): Promise<Taken> {
  const [command = '', ...args] = argv;
  const before = (await usageOf('self'))?.waitedMs ?? 0;
  const elapsed = stopwatch();
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'], signal });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-2_000);
  });
  let isOver = false;
  const ended = new Promise<number | string>((done, fail) => {
    child.once('error', (cause) => {
      signal.throwIfAborted();
      fail(
        new UsageError(`${command} cannot be started: ${cause.message}.`, 'Name a program that is there.', { cause }),
      );
    });
    child.once('close', (code, by) => done(code ?? by ?? 'nothing'));
  }).finally(() => {
    isOver = true;
  });
  let peakBytes = 0;
  const watch = async (): Promise<void> => {
    while (!isOver && child.pid !== undefined) {
      const members = await Promise.all((await familyOf(child.pid)).map(residentOf));
      const now = members.reduce((sum, member) => sum + (member?.nowBytes ?? 0), 0);
      peakBytes = Math.max(peakBytes, now, ...members.map((member) => member?.peakBytes ?? 0));
      await setTimeout(pollMs);
    }
  };
  const [code] = await Promise.all([ended, watch()]);
  const wallMs = elapsed();
  if (code !== 0)
    throw new MemoryError(
      `${command} ended with ${code}: ${said.trim().slice(-600) || 'it said nothing'}.`,
      'Run it by itself first: a command that fails cannot be compared.',
    );
  return { cpuMs: ((await usageOf('self'))?.waitedMs ?? 0) - before, wallMs, peakBytes };
}
