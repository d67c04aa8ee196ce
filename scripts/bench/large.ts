import { join } from 'node:path';
import { createRepository } from '../git/create.ts';
import { findRepository } from '../git/layout.ts';
import { openRepository } from '../git/open.ts';
import { gitProgram, output, type RunGit } from '../git/program.ts';
import { day, hour, isoTime } from '../shared/clock.ts';
import type { World } from '../shared/main.ts';
import { loadStateRef, stateRef } from '../state/ref.ts';
import { emptyState } from '../state/snapshot.ts';
import { scriptCommand } from './child.ts';
import { runProgram, type Taken } from './compare/program.ts';
import { commitBooks } from './growth/history.ts';
import { recordSession, selectAll, selectionPolicy } from './load/books.ts';
import { nightAt, repositoryName } from './load/days.ts';
import { teaching } from './load/teaching.ts';
import { threadIdOf } from './rows.ts';
import { loadSamples } from './samples.ts';
import { writeSessions } from './sessions.ts';
import { parseSpeed } from './statistics.ts';
import { type Measure, megabyte } from './types.ts';

const commits = 5_000;
const scopes = 20;
const fresh = 20;
const mostMegabytes = 700;
const summariesEach = selectionPolicy.maxRawMemories;

export const largeMeasure: Measure = {
  name: 'night-large',
  what: `a night over ${fresh} new sessions, ${commits} commits, ${scopes} scopes of ${summariesEach} summaries; peak ≤ ${mostMegabytes} MB`,
  unit: 'ms',
  limit: { on: 'value', bound: 'at most', than: 20_000 },
  async take({ world, folder }) {
    const samples = await loadSamples();
    const calibration = await parseSpeed(
      world,
      samples.flatMap(({ lines }) => lines),
    );
    const dir = join(folder, 'repository');
    await createRepository(dir, { branch: 'main', env: world.env });
    await fillRepository(dir, world);
    // The first night writes the handbook of what is there.
    await playNight(world, dir, [], 4);
    const sources = await writeSessions(join(folder, 'sessions'), samples, fresh);
    const named = sources.flatMap(({ agent, path }) => ['--source', `${agent}:${path}`]);
    const before = await stateAt(dir, world);
    const { wallMs, cpuMs, peakBytes } = await playNight(world, dir, named, 5);
    const peak = peakBytes / megabyte;
    return {
      value: Math.min(wallMs, cpuMs || wallMs),
      calibration,
      note: `${(wallMs / 1_000).toFixed(1)} s elapsed, ${peak.toFixed(0)} MB at most`,
      faults: [
        ...(peak > mostMegabytes ? [`it held ${peak.toFixed(0)} MB`] : []),
        ...(before === (await stateAt(dir, world)) ? ['the night recorded nothing'] : []),
      ],
    };
  },
};

/** A night without a model, as a process of its own. */
function playNight(world: World, dir: string, sources: readonly string[], night: number): Promise<Taken> {
  const wishes = ['--since', 'all', '--now', '--model', 'builtin', ...sources];
  const argv = scriptCommand(world, 'nightly.ts', ['--repo', dir, ...wishes]);
  const env = { ...world.env, CTM_CLOCK: isoTime(nightAt(night)) };
  return runProgram({ argv, cwd: dir, env, signal: world.signal });
}

async function stateAt(dir: string, { env }: World): Promise<string | null> {
  return (await loadStateRef(await openRepository(dir, { env }), stateRef))?.oid ?? null;
}

/** A long history, and the memory that earlier nights left of every scope. */
async function fillRepository(dir: string, { env }: World): Promise<void> {
  const git = gitProgram(await findRepository(dir), env);
  await importCommits(git);
  const state = await emptyState();
  const taught = await teaching();
  const now = nightAt(3) - day;
  state.transaction(() => {
    for (let index = 0; index < scopes * summariesEach; index += 1) {
      const repo = repositoryName(index % scopes);
      const session = { threadId: threadIdOf(index), repo, author: 'dana', at: now - hour - index, lot: 0.5 };
      recordSession(state, session, taught(session), now);
    }
  });
  const nights = Math.ceil(summariesEach / selectionPolicy.maxNewPerNight);
  for (let night = 1; night < nights; night += 1) selectAll(state, now + night * hour);
  const chosen = selectAll(state, now + nights * hour);
  const repository = await openRepository(dir, { env });
  await commitBooks(repository, new Map(), { night: 3, state, chosen, sessions: 0 });
  state.close();
  await output(git, ['reset', '--hard', '--quiet']);
}

async function importCommits(git: RunGit): Promise<void> {
  const stream = Array.from({ length: commits }, (_, index) => {
    const text = `Change ${index}\n`;
    return [
      'commit refs/heads/main',
      `committer Dana <dana@example.org> ${nightAt(1) - commits + index} +0000`,
      `data ${text.length}\n${text}M 100644 inline src/file-${index % 400}.txt`,
      `data ${text.length}\n${text}`,
    ].join('\n');
  });
  await output(git, ['fast-import', '--quiet'], `${stream.join('\n')}\ndone\n`);
}
