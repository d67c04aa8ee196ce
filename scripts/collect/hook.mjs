/**
 * Takes an agent's hook: `node hook.mjs <agent> [<memory clone> [<collector>]]` with the hook's JSON on standard input. Notes
 * the transcript in the spool, starts a collector that outlives us, and ends. `connect` copies this file to where later code
 * does not reach it, with a collector that is one file, too; without that one this checkout's is started. With `--no-memory`,
 * or `CTM_NO_MEMORY=1` in the session's environment, it notes instead that the session stays out of memory. Plain JavaScript
 * without packages, as each of them would cost the session that waits for us. Whatever happens, a session is never held up
 * or failed: exit code 0, a notice on stderr.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, openSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { env } = process;
const agents = ['claude-code', 'codex', 'copilot', 'gemini'];
const largestPayload = 4 * 1024 * 1024;
const patienceMs = 1_000;
/** `CTM_HOOK=spool`: note it only; a timer collects. */
const mayStart = env.CTM_HOOK !== 'spool';
/** A hook at the end of each turn starts at most one collector in this time; the end of a session always does. */
const turnPauseMs = 5 * 60_000;
const largestLog = 1024 * 1024;

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
// The same folders as `laptop.ts`.
const config = env.CTM_HOME || join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'commit-to-memory');
const state = env.CTM_HOME
  ? join(env.CTM_HOME, 'state')
  : join(env.XDG_STATE_HOME || join(homedir(), '.local/state'), 'commit-to-memory');

const agent = process.argv[2] ?? '';
const places = process.argv.slice(3).filter((word) => word !== '--no-memory');
const clone = places[0] ?? root;
const collector = places[1] ?? null;
let bytes = 0;
const chunks = [];
const patience = setTimeout(() => end('the payload did not end in time'), patienceMs);

if (!agents.includes(agent)) end(`there is no agent “${agent.slice(0, 40)}”: ${agents.join(', ')}`);
else if (!existsSync(join(config, 'collect.yml')))
  end('this laptop has allowed nothing yet: npm run collect -- --init');
else {
  process.stdin.on('data', (chunk) => {
    bytes += chunk.length;
    if (bytes > largestPayload) end('the payload is too large');
    else chunks.push(chunk);
  });
  process.stdin.on('error', (error) => end(error.message));
  process.stdin.on('end', () => {
    try {
      end(take(Buffer.concat(chunks).toString('utf8')));
    } catch (error) {
      end(error instanceof Error ? error.message : String(error));
    }
  });
}

/** @returns what is wrong, or nothing. */
function take(text) {
  const payload = parsed(text);
  if (payload === null) return 'the payload is no JSON object';
  const path = transcriptOf(payload);
  if (path === null) return 'the payload names no transcript';
  const isOut = env.CTM_NO_MEMORY === '1' || process.argv.includes('--no-memory');
  const spool = join(state, isOut ? 'opted-out' : 'spool');
  mkdirSync(spool, { recursive: true, mode: 0o700 });
  const entry = join(spool, `${createHash('sha256').update(`${agent} ${path}`).digest('hex').slice(0, 32)}.json`);
  writeFileSync(`${entry}.${process.pid}`, `${JSON.stringify({ agent, path })}\n`, { mode: 0o600 });
  renameSync(`${entry}.${process.pid}`, entry);
  if (isOut) return undefined;
  if (!mayStart || (!isEnd(payload) && isRecent(join(state, 'hook.started')))) return undefined;
  writeFileSync(join(state, 'hook.started'), '', { mode: 0o600 });
  start();
  return undefined;
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Claude Code, Codex and Gemini name it alike; Copilot's session end names only the session. */
function transcriptOf(payload) {
  const named = payload.transcript_path ?? payload.transcriptPath;
  const id = payload.sessionId;
  const isNamed = typeof named === 'string' && isAbsolute(named) && named.length <= 4096 && !named.includes('\0');
  if (isNamed) return named;
  if (agent !== 'copilot' || typeof id !== 'string' || !/^[A-Za-z0-9-]{1,80}$/.test(id)) return null;
  return join(env.COPILOT_HOME || join(homedir(), '.copilot'), 'session-state', id, 'events.jsonl');
}

/** The session is over, not only a turn of it. */
function isEnd(payload) {
  return payload.hook_event_name === 'SessionEnd' || (agent === 'copilot' && typeof payload.reason === 'string');
}

function isRecent(path) {
  try {
    return Math.abs(Date.now() - statSync(path).mtimeMs) < turnPauseMs;
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}

function start() {
  const path = join(state, 'hook.log');
  const log = openSync(path, existsSync(path) && statSync(path).size > largestLog ? 'w' : 'a', 0o600);
  const program = collector === null ? ['--import', 'tsx', join(root, 'scripts', 'collect.ts')] : [collector];
  const args = [...program, '--spooled', '--repo', clone];
  const child = spawn(process.execPath, args, {
    cwd: collector === null ? root : clone,
    env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  child.on('error', () => {});
  child.unref();
}

function end(notice) {
  clearTimeout(patience);
  if (notice !== undefined)
    process.stderr.write(`commit-to-memory: ${notice.replace(/[^\x20-\x7e\u2018-\u201d]/g, '?')}\n`);
  process.exit(0);
}
