import { PassThrough } from 'node:stream';
import { destinationOf } from '../../scripts/collect/destination.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { loadConfig } from '../../scripts/nightly/settings.ts';
import { noteCommand } from '../../scripts/note/command.ts';
import { noteSpec } from '../../scripts/note/flags.ts';
import { clockFrom } from '../../scripts/shared/clock.ts';
import { MemoryError } from '../../scripts/shared/errors.ts';
import { parseFlags } from '../../scripts/shared/flags.ts';
import { createLog } from '../../scripts/shared/log.ts';
import { type Ended, type TestLaptop, today } from './laptops.ts';

export interface Sitting {
  /** What the person at the terminal answers; without it nobody sits there. */
  readonly answer?: string;
  readonly at?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** `npm run note -- …` in the laptop's clone of the memory, inside this process. */
export async function note(laptop: TestLaptop, args: readonly string[], sitting: Sitting = {}): Promise<Ended> {
  const { answer, at = today } = sitting;
  const out: string[] = [];
  const err: string[] = [];
  const log = createLog({ write: (text) => out.push(text) }, { write: (text) => err.push(text) }, {});
  const ended = (code: number): Ended => ({ code, stdout: out.join(''), stderr: err.join('') });
  const env = { ...laptop.env, ...sitting.env };
  try {
    const repository = await openRepository(laptop.clone, { env });
    const config = await loadConfig(repository);
    const { memory } = await destinationOf(repository, config.rollouts.remote);
    const world = {
      flags: parseFlags(noteSpec, args),
      env,
      cwd: laptop.clone,
      home: laptop.home,
      log,
      ask: answer === undefined ? null : () => Promise.resolve(answer),
      streams: () => ({ input: new PassThrough(), output: new PassThrough() }),
      clock: clockFrom({ CTM_CLOCK: at }),
      signal: new AbortController().signal,
      self: { token: 'one', host: 'here', pid: process.pid, isAlive: () => true, program: process.execPath, args: [] },
      peakMemory: () => 0,
      cpuTime: () => 0,
    };
    return ended(await noteCommand(world, { config, memory }));
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    log.error(error.message);
    log.info(`  ${error.hint}`);
    return ended(error.exitCode);
  }
}
