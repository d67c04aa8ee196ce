import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createRepository } from '../../git/create.ts';
import type { Source } from '../../rollout/source.ts';
import { UsageError } from '../../shared/errors.ts';
import type { World } from '../../shared/main.ts';
import { runBuilt, scriptCommand } from '../child.ts';
import { sourcesIn } from '../corpus.ts';
import { loadSamples } from '../samples.ts';
import { type ServerAccess, startModelServer } from '../server.ts';
import { writeSessions } from '../sessions.ts';
import { measureCodex } from './codex.ts';
import { writeCodexSessions } from './codex-home.ts';
import { type CodexProgram, findCodex } from './codex-program.ts';
import { argvOf } from './command-line.ts';
import { type Comparison, codexRows, isMissed, programRows, type Round } from './comparison.ts';
import { type Figures, parseFigures } from './figures.ts';
import { assertMeasurable } from './processes.ts';
import { runProgram, type Taken } from './program.ts';

/** Of the corpus that the promises are about. */
const sessions = 1_000;
const sessionBytes = 71_000;

/** A promise that is missed gets one round more: other work on the machine is no fault of ours. */
const [rounds, mostRounds] = [2, 3] as const;

/**
 * Finds what is to be compared with, so that a mistake is told before anything is measured.
 * @param wish `codex`, or a command
 * @returns plays ours, theirs, ours, theirs, on the same sessions and the same server
 */
export async function opponent(world: World, wish: string): Promise<(folder: string) => Promise<Comparison>> {
  assertMeasurable();
  const program = wish === 'codex' ? await findCodex(world) : null;
  if (program === null) argvOf(wish, { corpus: '', server: '', out: '' });
  const corpus = await corpusOf(world, program !== null);
  return async (folder) => {
    const server = await startModelServer(world, 1);
    try {
      return program === null
        ? await withProgram(world, folder, wish, corpus, server)
        : await withCodex(world, folder, program, corpus, server);
    } finally {
      server.stop();
    }
  };
}

/** null for the samples, multiplied. */
interface Corpus {
  readonly path: string;
  readonly sources: readonly Source[];
}

async function corpusOf({ flags, cwd }: World, onlyCodex: boolean): Promise<Corpus | null> {
  const named = flags.valueOf('corpus');
  if (named === undefined) return null;
  const path = resolve(cwd, named);
  const sources = (await sourcesIn(path)).filter(({ agent }) => agent === 'codex' || !onlyCodex);
  if (sources.length > 0) return { path, sources };
  throw new UsageError(
    `${named} holds no sessions of Codex.`,
    'Codex reads its own alone: name a corpus with a folder codex.',
  );
}

async function withCodex(
  world: World,
  folder: string,
  program: CodexProgram,
  corpus: Corpus | null,
  server: ServerAccess,
): Promise<Comparison> {
  const from = corpus?.sources ?? (await multiplied(folder, true));
  const given = join(folder, 'given');
  await writeCodexSessions(
    given,
    from.map(({ path }) => path),
    world.clock.now(),
  );
  const played: Round<Figures>[] = [];
  const rowsNow = () => codexRows(played, corpus === null);
  while (played.length < rounds || (played.length < mostRounds && isMissed(rowsNow()))) {
    const place = join(folder, `round-${played.length}`);
    tell(world, `Codex ${program.version}`, played.length);
    const journal = join(place, 'journal');
    const ours = parseFigures(
      await runBuilt(world, join(place, 'program'), 'bench/compare/player.ts', [
        given,
        '--server',
        server.root,
        '--journal',
        journal,
      ]),
    );
    played.push({ ours, theirs: await measureCodex(world, program, given, join(place, 'home'), server) });
  }
  return { other: `Codex ${program.version}`, corpus: nameOf(corpus), rounds: played.length, rows: rowsNow() };
}

/** Whole commands: ours is phase 1 with a model. */
async function withProgram(
  world: World,
  folder: string,
  command: string,
  corpus: Corpus | null,
  server: ServerAccess,
): Promise<Comparison> {
  const path = corpus?.path ?? join(folder, 'sessions');
  const sources = corpus?.sources ?? (await multiplied(folder, false));
  const { env, signal } = world;
  const played: Round<Taken>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    tell(world, command, round);
    const out = join(folder, `out-${round}`);
    await mkdir(out);
    const argv = argvOf(command, { corpus: path, server: server.root, out });
    const repository = await memoryRepository(join(folder, `memory-${round}`), server, env);
    const named = sources.flatMap((source) => ['--source', `${source.agent}:${source.path}`]);
    const own = scriptCommand(world, 'phase1.ts', [
      '--repo',
      repository,
      '--now',
      '--since',
      'all',
      ...named,
      '--json',
    ]);
    const ours = await runProgram({ argv: own, cwd: out, env: { ...env }, signal });
    played.push({ ours, theirs: await runProgram({ argv, cwd: out, env: { ...env }, signal }) });
  }
  return { other: command, corpus: nameOf(corpus), rounds, rows: programRows(played) };
}

async function multiplied(folder: string, onlyCodex: boolean): Promise<readonly Source[]> {
  const samples = (await loadSamples()).filter(
    ({ agent, speaksAt }) => speaksAt < sessionBytes / 2 && (agent === 'codex' || !onlyCodex),
  );
  return writeSessions(join(folder, 'sessions'), samples, sessions, sessionBytes);
}

async function memoryRepository(path: string, server: ServerAccess, env: World['env']): Promise<string> {
  await createRepository(path, { branch: 'main', env });
  await mkdir(join(path, '.github'));
  const model = { provider: 'openai', base_url: server.baseUrl, extract_model: 'bench', consolidation_model: 'bench' };
  await writeFile(join(path, '.github', 'memory.yml'), JSON.stringify({ version: 1, model }));
  return path;
}

function nameOf(corpus: Corpus | null): string {
  return corpus === null
    ? `${sessions} sessions of ${sessionBytes / 1_000} KB, from the samples`
    : 'a corpus that was named';
}

function tell({ log }: World, other: string, done: number): void {
  log.progress({ stage: `bench: ours, then ${other}`, done, total: rounds, note: '' });
}
