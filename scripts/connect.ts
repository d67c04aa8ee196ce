import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseConsent } from './collect/consent.ts';
import { destinationOf } from './collect/destination.ts';
import { laptopOf } from './collect/laptop.ts';
import { bundle, bundleRecall } from './connect/bundle.ts';
import { connectCommand } from './connect/command.ts';
import { connectSpec } from './connect/flags.ts';
import type { MemoryPlace, Setup } from './connect/setup.ts';
import { openRepository } from './git/open.ts';
import { loadConfig } from './nightly/settings.ts';
import { sourceOf } from './recall/source.ts';
import { repositoryId } from './rollout/identity.ts';
import { MemoryError, UsageError } from './shared/errors.ts';
import { main, type World } from './shared/main.ts';
import { packageFacts } from './upgrade/version.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

await main(connectSpec, (world) => connectCommand(world, setupOf(world)));

function setupOf(world: World): Setup {
  const { env, home } = world;
  return {
    version: packageFacts(readFileSync(join(root, 'package.json'), 'utf8')).version ?? '0.0.0',
    state: laptopOf(env, home).state,
    memory: (named) => memoryPlace(named, world),
    async programs(collects) {
      const recall = await bundleRecall(root);
      if (!collects) return new Map([['recall.cjs', recall]]);
      const collect = await bundle(root, 'scripts/collect/hook.mjs');
      const collector = await bundle(root, 'scripts/collect.ts');
      return new Map(Object.entries({ 'recall.cjs': recall, 'collect.mjs': collect, 'collector.mjs': collector }));
    },
    // A tsconfig.json in the client's folder is not ours to obey.
    server: [
      join(root, 'node_modules/.bin/tsx'),
      '--tsconfig',
      join(root, 'tsconfig.json'),
      join(root, 'scripts/mcp.ts'),
    ],
    recalled: ({ named }, project) => recalled(named, project, world),
    async repositories(project) {
      const remotes = await (await openRepository(project, { env })).remotes();
      return [...remotes.values()].map(repositoryId).filter((id) => id !== null);
    },
  };
}

async function memoryPlace(named: string | undefined, { env, home, cwd }: World): Promise<MemoryPlace> {
  const source = named === undefined ? null : sourceOf(named, { env, home, cwd });
  if (source?.kind === 'remote') {
    if (/^[a-z][a-z0-9+.-]*:\/\/[^/@]*:[^/@]*@/i.test(source.url))
      throw new UsageError(
        'The address holds a password, and it would stand in the agent’s settings.',
        'Leave it out; git’s own credential helper or an ssh key gives it.',
      );
    return { named: source.url, clone: null, name: repositoryId(source.url) ?? source.url, consented: false };
  }
  const repository = await openRepository(resolve(cwd, source?.folder ?? '.'), { env });
  const clone = repository.workTree ?? repository.commonDir;
  const { memory } = await destinationOf(repository, (await loadConfig(repository)).rollouts.remote);
  return {
    named: clone,
    clone,
    name: memory.startsWith('/') ? 'the memory repository' : memory,
    consented: allows(memory, env, home),
  };
}

/** The laptop's own file names this memory repository. */
function allows(memory: string, env: World['env'], home: string): boolean {
  const { consent } = laptopOf(env, home);
  if (!existsSync(consent)) return false;
  return parseConsent(readFileSync(consent, 'utf8'), consent).agreements.some(
    (agreement) => agreement.memory === memory,
  );
}

/** What the hook itself would answer. */
async function recalled(memory: string, project: string, { self, env }: World): Promise<string> {
  const script = join(root, 'scripts/recall/hook.ts');
  const args = [...self.args, script, '--agent', 'copilot', '--memory', memory];
  const child = spawn(self.program, args, { cwd: root, env, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.on('error', () => {});
  child.stdin.end(JSON.stringify({ cwd: project }));
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise((done, failed) => child.once('close', done).once('error', failed));
  const answer: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{}');
  const text = typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'additionalContext') : undefined;
  if (text !== undefined && typeof text !== 'string') throw new MemoryError('recall gave no text.', 'Report it.');
  return text ?? '';
}
