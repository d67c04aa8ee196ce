import { join } from 'node:path';
import type { Source } from '../../rollout/source.ts';
import { type ExitCode, exitCodes, MemoryError, UsageError } from '../../shared/errors.ts';
import type { CommandSpec } from '../../shared/flags.ts';
import { main, type World } from '../../shared/main.ts';
import { playPhase1 } from '../play-phase1.ts';
import { playPhase2 } from '../play-phase2.ts';
import { reachServer } from '../server.ts';
import type { Figures } from './figures.ts';

const spec: CommandSpec = {
  name: 'bench',
  purpose: 'Plays both phases over a folder of Codex sessions and says what they took.',
  flags: {
    server: { kind: 'value', value: '<address>', help: 'where model-server.ts listens' },
    journal: { kind: 'value', value: '<dir>', help: 'an empty folder for what is paid' },
  },
  positionals: ['<dir>'],
  examples: ['npx tsx scripts/bench/compare/player.ts sessions --server http://127.0.0.1:1234 --journal empty'],
};

await main(spec, play);

/** A process of its own and a cold one, as the program beside it is. */
async function play({ flags, log, clock, cpuTime, peakMemory, signal }: World): Promise<ExitCode> {
  const [path, address, journal] = [flags.positionals[0], flags.valueOf('server'), flags.valueOf('journal')];
  if (path === undefined || address === undefined || journal === undefined)
    throw new UsageError('The player takes a folder, --server and --journal.', spec.examples[0] ?? '');
  const server = reachServer(address);
  const sources: readonly Source[] = [{ agent: 'codex', path }];
  await server.mark();
  const before = cpuTime();
  const played = await playPhase1(sources, server.baseUrl, join(journal, 'phase1'), signal);
  const after = cpuTime();
  await server.mark();
  await playPhase2(played, clock.now(), join(journal, 'phase2'), signal);
  const { preparationMs } = await server.calls();
  if (preparationMs === null) throw new MemoryError('No consolidation was asked for.', 'Name sessions that teach.');
  const figures: Figures = {
    rollouts: played.report.extracted.length + played.report.nothing.length,
    phase1CpuMs: after - before,
    wholeCpuMs: after,
    preparationMs,
    peakBytes: peakMemory(),
  };
  log.result(JSON.stringify(figures));
  return exitCodes.done;
}
