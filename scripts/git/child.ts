import { type ChildProcess, spawn } from 'node:child_process';
import { platform } from 'node:os';
import { MemoryError } from '../shared/errors.ts';
import { GitError } from './errors.ts';

export interface Ran {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** How a program is stopped: by a signal of ours, or because it takes too long. */
export interface Stops {
  readonly signal?: AbortSignal | undefined;
  readonly limitSeconds: number;
  /** Whether it leads a process group of its own, so that the programs it started (for the network) end with it. */
  readonly group: boolean;
}

/**
 * Runs `git <args>` to its end. To stop it, it is asked first, which lets it remove its locks.
 * @throws what the signal was aborted with, or GitError; and whatever keeps the program from starting.
 */
export function runChild(
  args: readonly string[],
  place: { readonly cwd: string; readonly env: Record<string, string> },
  input: Buffer | string,
  { signal, limitSeconds, group }: Stops,
): Promise<Ran> {
  return new Promise((done, fail) => {
    if (signal?.aborted) throw stopped(signal.reason);
    const grouped = group && platform() !== 'win32';
    const child = spawn('git', args, {
      ...place,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
      detached: grouped,
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    let reason: Error | null = null;
    let lastResort: ReturnType<typeof setTimeout> | undefined;
    const stop = (error: Error) => {
      reason ??= error;
      kill(child, grouped, 'SIGTERM');
      lastResort ??= setTimeout(() => kill(child, grouped, 'SIGKILL'), graceMs);
    };
    const aborted = () => stop(stopped(signal?.reason));
    const watchdog = setTimeout(() => stop(tooLong(limitSeconds)), limitSeconds * 1000);
    signal?.addEventListener('abort', aborted, { once: true });
    const settle = () => {
      clearTimeout(watchdog);
      clearTimeout(lastResort);
      signal?.removeEventListener('abort', aborted);
    };
    child.on('error', (error) => {
      settle();
      fail(error);
    });
    child.on('close', (code, killedBy) => {
      settle();
      if (reason !== null) fail(reason);
      else if (killedBy !== null) fail(killed(killedBy));
      else done({ code: code ?? 1, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString('utf8') });
    });
    child.stdin.on('error', ignoreClosedPipe);
    child.stdin.end(input);
  });
}

/** The time in which a program that was asked to end may remove its locks. */
const graceMs = 5_000;

function kill(child: ChildProcess, grouped: boolean, signal: NodeJS.Signals): void {
  if (!grouped || child.pid === undefined) {
    child.kill(signal);
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    child.kill(signal);
  }
}

function stopped(reason: unknown): Error {
  if (reason instanceof MemoryError) return reason;
  return new GitError('git was stopped before it was done.', 'Run it again; nothing is half done.', { cause: reason });
}

function tooLong(seconds: number): GitError {
  return new GitError(`git was stopped: it took over ${seconds} seconds.`, 'Run it again, or see what keeps it busy.');
}

function killed(signal: NodeJS.Signals): GitError {
  return new GitError(`git was stopped by ${signal}.`, 'Run it again; see with git status how far it came.');
}

/** A program that stops reading has failed, and says why on stderr. */
function ignoreClosedPipe(): void {}
