/**
 * What an agent runs at the start of a session: `hook.ts --agent <agent> --memory <folder|address>` with the hook's JSON on
 * standard input, its answer on standard output. An entry of its own beside `recall.ts`, since a session waits for it: it
 * loads no package, and `connect` bundles it into one file. Whatever happens, the session goes on: exit code 0 and at most
 * a notice on standard error. With `--refresh` it is the process that brings the copy of an address up to date.
 */
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { clockFrom } from '../shared/clock.ts';
import { messageOf } from '../shared/errors.ts';
import { createLog } from '../shared/log.ts';
import { answerTo, folderIn, isRecallAgent, recallAgents } from './answers.ts';
import { recallFor } from './session.ts';
import type { Machine } from './source.ts';

const largestPayload = 4 * 1024 * 1024;
/** For the payload to end. */
const patienceMs = 1_000;

const log = createLog(process.stdout, process.stderr, {});
const machine: Machine = { env: process.env, home: homedir(), cwd: process.cwd() };

process.stdout.on('error', () => process.exit(0));
process.on('uncaughtException', (error) => giveUp(messageOf(error)));
run(process.argv.slice(2)).catch((error: unknown) => giveUp(messageOf(error)));

async function run(args: string[]): Promise<void> {
  const flags = { agent: { type: 'string' }, memory: { type: 'string' }, cwd: { type: 'string' } } as const;
  const { values } = parseArgs({ args, options: { ...flags, refresh: { type: 'boolean' } } });
  const { agent = '', memory = '', refresh = false } = values;
  if (memory === '') throw new Error('--memory names no folder or address');
  const clock = clockFrom(process.env);
  const mark = String(process.pid);
  if (refresh) {
    const { refreshCopy } = await import('./refresh.ts');
    await refreshCopy(memory, { machine, clock, mark });
    return;
  }
  // All is done before optimised code would be ready, and making it takes a tenth of the time.
  setFlagsFromString('--no-opt');
  if (!isRecallAgent(agent)) throw new Error(`there is no agent “${agent.slice(0, 40)}”: ${recallAgents.join(', ')}`);
  const folder = folderIn(await payload()) ?? machine.cwd;
  const ports = { machine, now: clock.now(), mark, startRefresh: () => startRefresh(memory) };
  const { text, notice } = await recallFor({ memory, folder: values.cwd ?? folder }, ports);
  log.result(answerTo(agent, text));
  if (notice !== '') log.info(`commit-to-memory: ${notice}`);
}

/** Ends with the stream, or with an error where it is too long or does not end in time. */
function payload(): Promise<string> {
  return new Promise((done, fail) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stop = (error: Error): void => {
      process.stdin.destroy();
      fail(error);
    };
    const patience = setTimeout(() => stop(new Error('the payload did not end in time')), patienceMs);
    process.stdin.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > largestPayload) stop(new Error('the payload is too large'));
      else chunks.push(chunk);
    });
    process.stdin.on('error', fail);
    process.stdin.on('close', () => clearTimeout(patience));
    // A file as standard input ends without being closed.
    process.stdin.on('end', () => {
      clearTimeout(patience);
      done(Buffer.concat(chunks).toString('utf8'));
    });
  });
}

/** In a session and process group of its own, without our streams, so that the agent waits for us alone. */
async function startRefresh(memory: string): Promise<void> {
  const { spawn } = await import('node:child_process');
  const args = [...process.execArgv, fileURLToPath(import.meta.url), '--refresh', '--memory', memory];
  const child = spawn(process.execPath, args, { env: process.env, detached: true, stdio: 'ignore', windowsHide: true });
  child.on('error', (error) => log.info(`commit-to-memory: the memory is not refreshed: ${error.message}`));
  child.unref();
}

function giveUp(why: string): void {
  log.result('{}');
  log.info(`commit-to-memory: ${why}`);
  process.exit(0);
}
