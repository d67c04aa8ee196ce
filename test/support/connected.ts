import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { TestContext } from 'node:test';
import { connectCommand } from '../../scripts/connect/command.ts';
import { connectSpec } from '../../scripts/connect/flags.ts';
import type { MemoryPlace, Setup } from '../../scripts/connect/setup.ts';
import { clockFrom } from '../../scripts/shared/clock.ts';
import { MemoryError } from '../../scripts/shared/errors.ts';
import { parseFlags } from '../../scripts/shared/flags.ts';
import { createLog } from '../../scripts/shared/log.ts';
import { temporaryFolder } from './repository.ts';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A person's machine, as far as connecting agents goes. */
export interface TestMachine {
  /** What agents and people keep in it is compared; what we keep for ourselves is elsewhere. */
  readonly home: string;
  readonly own: string;
  readonly env: Readonly<Record<string, string>>;
  connect(args: readonly string[], setup?: Partial<Setup> & { readonly place?: Partial<MemoryPlace> }): Promise<Ended>;
}

let runs = 0;

/** @param name of the home folder, for people whose name needs quoting. */
export function aMachine(t: TestContext, name = 'home'): TestMachine {
  const folder = temporaryFolder(t);
  const home = join(folder, name);
  const own = join(folder, `${name} own`);
  const env = { PATH: process.env.PATH ?? '', HOME: home, CTM_HOME: own };
  return { home, own, env, connect: (args, more = {}) => connectHere(home, own, env, args, more) };
}

async function connectHere(
  home: string,
  own: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
  { place, ...setup }: Parameters<TestMachine['connect']>[1] & object,
): Promise<Ended> {
  const out: string[] = [];
  const err: string[] = [];
  const log = createLog({ write: (text) => out.push(text) }, { write: (text) => err.push(text) }, {});
  const ended = (code: number) => ({ code, stdout: out.join(''), stderr: err.join('') });
  runs += 1;
  const token = `${runs}-${process.pid}-of-a-test`;
  const memory = { named: join(home, 'memory'), clone: join(home, 'memory'), name: 'git.example.test/acme/memory' };
  try {
    return ended(
      await connectCommand(
        {
          flags: parseFlags(connectSpec, args),
          env,
          cwd: home,
          home,
          log,
          ask: null,
          streams: () => ({ input: new PassThrough(), output: new PassThrough() }),
          clock: clockFrom({ CTM_CLOCK: '2026-11-30T08:00:00Z' }),
          signal: new AbortController().signal,
          self: { token, host: 'here', pid: process.pid, isAlive: () => true, program: process.execPath, args: [] },
          peakMemory: () => 0,
          cpuTime: () => 0,
        },
        {
          version: '0.1.0',
          state: join(own, 'state'),
          memory: () => Promise.resolve({ ...memory, consented: true, ...place }),
          programs: (collects) => Promise.resolve(collects ? smallPrograms : new Map([...smallPrograms].slice(0, 1))),
          server: ['node', '--import', 'file:///opt/tsx/loader.mjs', '/opt/scripts/mcp.ts'],
          recalled: () => Promise.resolve('<commit-to-memory v="1">\nUse npm.\n</commit-to-memory>'),
          repositories: () => Promise.resolve(['git.example.test/acme/app']),
          ...setup,
        },
      ),
    );
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    log.error(error.message);
    log.info(`  ${error.hint}`);
    return ended(error.exitCode);
  }
}

/** Programs that say how they were called, for what is about the files that call them. */
export const smallPrograms: ReadonlyMap<string, string> = new Map(
  ['recall.cjs', 'collect.mjs', 'collector.mjs'].map((name) => [
    name,
    `process.stdout.write(JSON.stringify({ name: ${JSON.stringify(name)}, args: process.argv.slice(2) }));\n`,
  ]),
);

/** Everything below a folder: kind, rights and content (base64), by path; nothing where the folder is not there. */
export function snapshot(folder: string, below = ''): Record<string, string> {
  const path = join(folder, below);
  if (!existsSync(path)) return {};
  return Object.assign(
    {},
    ...readdirSync(path).map((name) => {
      const at = join(below, name);
      const facts = lstatSync(join(folder, at));
      const mode = (facts.mode & 0o777).toString(8);
      if (facts.isSymbolicLink()) return { [at]: `link ${readlinkSync(join(folder, at))}` };
      if (facts.isDirectory()) return { [at]: `folder ${mode}`, ...snapshot(folder, at) };
      return { [at]: `file ${mode} ${readFileSync(join(folder, at)).toString('base64')}` };
    }),
  );
}
