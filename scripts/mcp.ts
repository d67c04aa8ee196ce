import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type NoteOrigin, spoolNote } from './archive/note-spool.ts';
import { laptopOf } from './collect/laptop.ts';
import { serve } from './recall/mcp-server.ts';
import { resourcesOf } from './recall/resources.ts';
import { createRankings } from './recall/search/rankings.ts';
import { addAdHocNote } from './recall/tools/add-note.ts';
import { list } from './recall/tools/list.ts';
import { openMemoryFolder } from './recall/tools/memory-folder.ts';
import { read } from './recall/tools/read.ts';
import { search } from './recall/tools/search.ts';
import { instructions, type ToolSpec, toolSpecs } from './recall/tools/specs.ts';
import { checkoutsOnDisk } from './rollout/checkouts.ts';
import { chooseRepository, repositoryId } from './rollout/identity.ts';
import { type ExitCode, exitCodes, UsageError } from './shared/errors.ts';
import type { CommandSpec } from './shared/flags.ts';
import { main, type World } from './shared/main.ts';
import { createRedactor } from './shared/redact.ts';

const spec: CommandSpec = {
  name: 'mcp',
  purpose: 'Serves a memory to an agent over the Model Context Protocol: list, read, search, add_ad_hoc_note on stdio.',
  flags: {
    memory: {
      kind: 'value',
      value: '<dir>',
      help: 'a clone of the memory repository (default: the repository of --cwd where it holds one, else this one)',
    },
    cwd: {
      kind: 'value',
      value: '<dir>',
      help: 'the session’s folder, which says whose memory is its own (default: here)',
    },
  },
  positionals: [],
  examples: ['npm run --silent mcp', 'npm run --silent mcp -- --memory ~/team-memory --cwd ~/src/shop'],
};

const here = fileURLToPath(new URL('..', import.meta.url));

await main(spec, mcp);

async function mcp(world: World): Promise<ExitCode> {
  const { flags, env, log, signal } = world;
  const cwd = resolve(world.cwd, flags.valueOf('cwd') ?? '.');
  const checkout = await checkoutsOnDisk().of(cwd);
  const repositories = (checkout?.remotes ?? []).map(repositoryId).filter((id) => id !== null);
  const clone = cloneOf(world, checkout?.root ?? null);
  const folder = openMemoryFolder(join(clone, 'memories'));
  const asked = { folder, repositories, rankings: createRankings() };
  const { redact } = createRedactor(env);
  const desk = { folder, redact, keep: keepIn(world, clone, repositories) };
  const tools: Readonly<Record<ToolSpec['name'], (given: unknown) => Promise<object>>> = {
    list: (given) => list(folder, given),
    read: (given) => read(folder, given),
    search: (given) => search(asked, given),
    add_ad_hoc_note: (given) => addAdHocNote(desk, given),
  };
  if (!existsSync(join(clone, 'memories'))) log.warn(`${clone} holds no memory yet: its folder memories is missing.`);
  await serve(
    world.streams(),
    {
      version: versionHere(),
      instructions,
      tools: toolSpecs,
      call: (tool, given) => tools[tool](given),
      resources: () => resourcesOf(folder, repositories),
      warn: (text) => log.warn(text),
    },
    signal,
  );
  return exitCodes.done;
}

function cloneOf({ flags, cwd }: World, root: string | null): string {
  const named = flags.valueOf('memory');
  if (named === undefined) return root !== null && existsSync(join(root, 'memories')) ? root : here;
  const clone = resolve(cwd, named);
  if (!existsSync(clone))
    throw new UsageError(`${clone} is not there.`, 'Clone the memory repository, and name its folder.');
  return clone;
}

/** Notes wait on this laptop: `collect` carries them with the sessions. */
function keepIn({ env, home, clock }: World, clone: string, repositories: readonly string[]) {
  return async (note: Parameters<typeof spoolNote>[1]) => {
    const { memory, include } = await memoryOf(clone, env);
    const repo = chooseRepository(repositories, include).repo ?? 'none';
    const origin: NoteOrigin = { authority: 'agent', channel: 'mcp', memory, repo, at: clock.now() };
    return spoolNote(laptopOf(env, home).state, note, origin);
  };
}

/** By the name that a laptop allows it: what is no repository is its folder. Loaded for the first note, not for a search. */
async function memoryOf(clone: string, env: World['env']): Promise<{ memory: string; include: readonly string[] }> {
  if (!existsSync(join(clone, '.git'))) return { memory: clone, include: [] };
  const { destinationOf } = await import('./collect/destination.ts');
  const { openRepository } = await import('./git/open.ts');
  const { loadConfig } = await import('./nightly/settings.ts');
  const repository = await openRepository(clone, { env });
  const { include, rollouts } = await loadConfig(repository);
  const { memory } = await destinationOf(repository, rollouts.remote);
  return { memory, include };
}

function versionHere(): string {
  const { version }: { version?: unknown } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
  return typeof version === 'string' ? version : '0';
}
