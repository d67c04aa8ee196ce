import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { stopwatch } from '../../shared/clock.ts';
import { MemoryError } from '../../shared/errors.ts';
import type { World } from '../../shared/main.ts';
import type { CallsSeen } from '../model-calls.ts';
import type { ServerAccess } from '../server.ts';
import { type AppServer, startAppServer } from './app-server.ts';
import { writeCodexHome } from './codex-home.ts';
import type { CodexProgram } from './codex-program.ts';
import type { Figures } from './figures.ts';
import { familyOf, programOf, residentOf, usageOf } from './processes.ts';

/** How long is waited for what no message announces: ms. */
export interface Pace {
  /** A pass is over when nothing more was extracted for so long and no consolidation came. */
  readonly quietMs: number;
  /** What Codex records a failed consolidation in; a pass that begins sooner finds it running and starts none. */
  readonly settleMs: number;
  readonly pollMs: number;
}

const unhurried: Pace = { quietMs: 8_000, settleMs: 3_000, pollMs: 20 };
const mostPasses = 200;

/**
 * Plays Codex' memories over copies of these sessions, in a home of its own, with a way out to the bench's server only:
 * turn after turn, since each reads 128 rollouts at most. The processor time of a pass counts from its turn to its last
 * stage-1 output; what a turn takes that finds nothing to read is taken off again.
 */
export async function measureCodex(
  { env, signal }: Pick<World, 'env' | 'signal'>,
  program: CodexProgram,
  sessions: string,
  home: string,
  server: ServerAccess,
  pace = unhurried,
): Promise<Figures> {
  await writeCodexHome(home, sessions, server.baseUrl);
  const app = startAppServer([program.path], closedIn(home, env.PATH), join(home, 'work'));
  try {
    const thread = await openThread(app, join(home, 'work'));
    const pid = await nativeProgram(app.pid);
    const wholeBefore = await cpuOf(pid);
    const passes: Pass[] = [];
    for (;;) {
      const pass = await playPass(app, thread, pid, server, pace, signal);
      passes.push(pass);
      if (pass.extractions === 0 || passes.length === mostPasses) break;
      await pause(pace.settleMs, signal);
    }
    return figuresOf(passes, wholeBefore, (await residentOf(pid))?.peakBytes ?? 0);
  } finally {
    await app.stop();
  }
}

/** What one turn set off. */
export interface Pass {
  readonly extractions: number;
  /** Until the last extraction was answered, or the turn was over: ms. */
  readonly cpuMs: number;
  /** null where no consolidation was started. */
  readonly preparationMs: number | null;
}

/**
 * @param passes the last found nothing to read
 * @param startMs processor time before the first
 * @throws MemoryError where nothing was extracted, or the last pass that extracted started no consolidation.
 */
export function figuresOf(passes: readonly Pass[], startMs: number, peakBytes: number): Figures {
  const working = passes.filter(({ extractions }) => extractions > 0);
  const idleMs = passes.find(({ extractions }) => extractions === 0)?.cpuMs ?? 0;
  const rollouts = working.reduce((sum, { extractions }) => sum + extractions, 0);
  const preparationMs = working.at(-1)?.preparationMs ?? null;
  if (preparationMs === null)
    throw new MemoryError(
      rollouts === 0 ? 'Codex read none of the sessions.' : 'Codex started no consolidation after its last rollout.',
      rollouts === 0
        ? 'It reads its own sessions of the last 90 days that a person typed: name a corpus with such.'
        : 'Run the comparison again, on a machine that does less beside it.',
    );
  const phase1CpuMs = working.reduce((sum, { cpuMs }) => sum + Math.max(0, cpuMs - idleMs), 0);
  return { rollouts, phase1CpuMs, wholeCpuMs: startMs + phase1CpuMs, preparationMs, peakBytes };
}

async function playPass(
  app: AppServer,
  threadId: string,
  pid: number,
  server: ServerAccess,
  { quietMs, pollMs }: Pace,
  signal: AbortSignal,
): Promise<Pass> {
  await server.mark();
  const elapsed = stopwatch();
  const before = await cpuOf(pid);
  const samples: Sample[] = [];
  await app.call('turn/start', { threadId, input: [{ type: 'text', text: 'hello' }] });
  let seen: CallsSeen;
  do {
    await pause(pollMs, signal);
    samples.push({ at: elapsed(), cpuMs: await cpuOf(pid) });
    seen = await server.calls();
  } while (seen.preparationMs === null && (seen.idleMs ?? elapsed()) < quietMs);
  const lastAnswer = elapsed() - (seen.idleMs ?? quietMs);
  return {
    extractions: seen.extractions,
    cpuMs: cpuAt(samples, lastAnswer) - before,
    preparationMs: seen.preparationMs,
  };
}

/** @throws the signal's reason */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms);
  signal.throwIfAborted();
}

interface Sample {
  readonly at: number;
  readonly cpuMs: number;
}

/** The first look at that time or after it. */
function cpuAt(samples: readonly Sample[], time: number): number {
  return (samples.find(({ at }) => at >= time) ?? samples.at(-1))?.cpuMs ?? 0;
}

async function cpuOf(pid: number): Promise<number> {
  const usage = await usageOf(pid);
  if (usage === null) throw new MemoryError('Codex ended while it was measured.', 'Run the comparison again.');
  return usage.cpuMs;
}

async function openThread(app: AppServer, cwd: string): Promise<string> {
  await app.call('initialize', { clientInfo: { name: 'bench', title: null, version: '1' } });
  app.notify('initialized');
  const started = await app.call('thread/start', { cwd, sandbox: 'read-only', approvalPolicy: 'never' });
  const thread = started !== null && typeof started === 'object' && 'thread' in started ? started.thread : null;
  if (thread !== null && typeof thread === 'object' && 'id' in thread && typeof thread.id === 'string')
    return thread.id;
  throw new MemoryError(
    'Codex started no session.',
    'Its protocol may have changed: try the version that the README names.',
  );
}

/** npm's `codex` is a script of Node that starts the program: only the program counts. */
async function nativeProgram(pid: number): Promise<number> {
  for (const member of await familyOf(pid)) if ((await programOf(member)) === 'codex') return member;
  return pid;
}

/** Its own home, and a proxy where nothing listens for whatever is not on this machine. */
function closedIn(home: string, path: string | undefined): NodeJS.ProcessEnv {
  const nowhere = 'http://127.0.0.1:9';
  return {
    PATH: path ?? '',
    HOME: home,
    CODEX_HOME: home,
    HTTPS_PROXY: nowhere,
    HTTP_PROXY: nowhere,
    NO_PROXY: '127.0.0.1,localhost',
  };
}
