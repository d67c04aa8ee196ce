import { type ExitCode, exitCodes, UsageError } from '../shared/errors.ts';
import type { CommandSpec } from '../shared/flags.ts';
import { main, type World } from '../shared/main.ts';
import { readOnce } from './read-once.ts';

const spec: CommandSpec = {
  name: 'bench',
  purpose: 'Reads one Claude Code session, as a night does, and says what that took at most.',
  flags: {},
  positionals: ['<file>'],
  examples: ['npx tsx scripts/bench/reader.ts session.jsonl'],
};

await main(spec, read);

/** A process of its own, because what another part of the bench once held would count as well. */
async function read({ flags, log, peakMemory }: World): Promise<ExitCode> {
  const [path] = flags.positionals;
  if (path === undefined) throw new UsageError('There is no file to read.', 'Name one: reader.ts session.jsonl');
  const items = await readOnce(path);
  log.result(JSON.stringify({ items, peakBytes: peakMemory() }));
  return exitCodes.done;
}
