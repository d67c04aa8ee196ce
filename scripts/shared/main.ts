import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { homedir, hostname } from 'node:os';
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { isBuilt, loaderArguments, newerSource } from './built.ts';
import { type Clock, clockFrom } from './clock.ts';
import { type ExitCode, exitCodes, MemoryError, messageOf } from './errors.ts';
import { type CommandSpec, type Flags, parseFlags, specOf } from './flags.ts';
import { helpText } from './help.ts';
import { createLog, type Log } from './log.ts';

/** The world as a command gets it. Nothing below touches `process`. */
export interface World {
  readonly flags: Flags;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the command was started. */
  readonly cwd: string;
  readonly home: string;
  readonly log: Log;
  /** Asks the person at the terminal and waits for a line; null where nobody sits there. */
  readonly ask: ((question: string) => Promise<string>) | null;
  /** Standard input and output, for a command that speaks a protocol over them and prints no result. */
  streams(): { readonly input: Readable; readonly output: Writable };
  readonly clock: Clock;
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal;
  /** `token` is this process's alone: no other one, on whatever machine, has it. */
  readonly self: {
    readonly token: string;
    readonly host: string;
    readonly pid: number;
    isAlive(pid: number): boolean;
    /** What starts another of our scripts in a process of its own: this program, these arguments, the script's path. */
    readonly program: string;
    readonly args: readonly string[];
  };
  /** Peak resident memory so far, in bytes. */
  peakMemory(): number;
  /** Processor time of this process so far, in milliseconds. */
  cpuTime(): number;
}

/**
 * Runs a command and ends the process with its exit code. `--help` answers here. A MemoryError shows its message and
 * its hint; anything else is our mistake and says so, with the stack under `CTM_DEBUG=1`.
 */
export async function main(spec: CommandSpec, command: (world: World) => Promise<ExitCode>): Promise<void> {
  setFlagsFromString(heapGrowth);
  if (process.versions.node.startsWith('20.')) setFlagsFromString(lateOptimising);
  const log = createLog(process.stdout, process.stderr, process.env);
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () =>
      stop.abort(
        new MemoryError(`Stopped by ${name}.`, 'Nothing is lost: run it again and it goes on from the journal.'),
      ),
    );
  }
  process.stdout.on('error', endQuietly);
  try {
    const flags = parseFlags(spec, process.argv.slice(2));
    if (flags.help) {
      log.result(helpText(specOf(spec, flags.command)));
      return;
    }
    const newer = newerSource();
    if (newer !== null)
      log.warn(`These programs are older than ${newer}; what they do is what it was. Build again: npm run build`);
    process.exitCode = await command({
      flags,
      env: process.env,
      cwd: process.cwd(),
      home: homedir(),
      log,
      ask: process.stdin.isTTY && process.stderr.isTTY ? ask : null,
      streams: () => ({ input: process.stdin, output: process.stdout }),
      clock: clockFrom(process.env),
      signal: stop.signal,
      self: {
        token: randomUUID(),
        host: hostname(),
        pid: process.pid,
        isAlive,
        program: process.execPath,
        args: isBuilt() ? [...process.execArgv, ...loaderArguments()] : process.execArgv,
      },
      peakMemory: () => process.resourceUsage().maxRSS * 1024,
      cpuTime: () => {
        const { user, system } = process.cpuUsage();
        return (user + system) / 1000;
      },
    });
  } catch (error) {
    process.exitCode = report(log, error);
  }
}

/**
 * For programs that live for seconds and hold mostly texts: a heap that grows by two fifths until the next collection,
 * and not up to fourfold. V8 looks at it whenever it decides anew, so it may change while it runs; Node 20, 22 and 24
 * know it.
 */
const heapGrowth = '--heap-growing-percent=40';

/**
 * Three times what Node 20's optimising compiler waits for: a night ends before most of what it would optimise has paid
 * for it. Node 22 and 24 wait longer by themselves, and know no such flag.
 */
const lateOptimising = '--interrupt-budget=200000';

function report(log: Log, error: unknown): ExitCode {
  if (error instanceof MemoryError) {
    log.error(error.message);
    log.info(`  ${error.hint}`);
    if (process.env.CTM_DEBUG === '1')
      log.info(`${error.stack ?? ''}\n${error.cause === undefined ? '' : messageOf(error.cause)}`);
    return error.exitCode;
  }
  log.error(`This is a mistake of ours: ${messageOf(error)}`);
  log.info(
    process.env.CTM_DEBUG === '1' && error instanceof Error
      ? (error.stack ?? '')
      : '  Run it again with CTM_DEBUG=1 and report what it shows; nothing was committed.',
  );
  return exitCodes.failed;
}

/** A reader that closed the pipe (`| head`) has all it wanted. */
function endQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(exitCodes.done);
}

/** On standard error, as standard output is for results. An end of input is an empty answer. */
async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await Promise.race([terminal.question(question), once(terminal, 'close').then(() => '')]);
  } finally {
    terminal.close();
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
