import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { bundleCommands, nodeOptions } from '../../scripts/connect/bundle.ts';
import { builtCommands, later } from '../support/built-commands.ts';
import { command, root } from '../support/nights.ts';
import { aRepository, temporaryFolder, writeFiles } from '../support/repository.ts';

test('a built command makes the very commits that its source makes', async (t) => {
  const folder = await builtCommands(t, ['start'], later);
  const oids = (stdout: string): object => JSON.parse(stdout).commits;
  const fromBuild = execFileSync(process.execPath, [join(folder, 'start.mjs'), '--json'], { encoding: 'utf8' });
  const { stdout } = await command('start', ['--json']);
  assert.deepEqual(oids(fromBuild), oids(stdout));
  assert.ok(Object.values(oids(stdout)).every((oid) => /^[0-9a-f]{40}$/.test(oid)));
});

test('a built command starts by its name, with the options of its first line', async (t) => {
  const folder = await builtCommands(t, ['status'], later);
  const env = { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) };
  const shown = execFileSync(join(folder, 'status.mjs'), ['--help'], { encoding: 'utf8', env });
  assert.match(shown, /usage: /);
  writeFileSync(join(folder, 'options.mjs'), `${firstLineOf(folder)}console.log(JSON.stringify(process.execArgv));\n`, {
    mode: 0o755,
  });
  const options = execFileSync(join(folder, 'options.mjs'), { encoding: 'utf8', env });
  assert.deepEqual(JSON.parse(options), nodeOptions);
});

function firstLineOf(folder: string): string {
  return readFileSync(join(folder, 'status.mjs'), 'utf8').split(/(?<=\n)/, 1)[0] ?? '';
}

test('no command loads fetch, the bundler or the database before it needs them', async (t) => {
  const scripts = readdirSync(join(root, 'scripts')).filter((name) => name.endsWith('.ts'));
  const names = scripts.map((name) => name.slice(0, -'.ts'.length));
  const folder = await builtCommands(t, names, later);
  const probe = join(folder, 'probe.mjs');
  writeFileSync(probe, tellsWhatIsLoaded);
  for (const name of names) {
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--import', pathToFileURL(probe).href, join(folder, `${name}.mjs`), '--help'],
      { encoding: 'utf8' },
    );
    assert.equal(status, 0, stderr);
    assert.deepEqual(JSON.parse(stderr), { fetch: false, packages: [] }, name);
  }
});

const tellsWhatIsLoaded = `
import { createRequire } from 'node:module';
const { cache } = createRequire(import.meta.url);
process.on('exit', () => {
  const fetch = process.moduleLoadList.some((name) => name.endsWith('internal/deps/undici/undici'));
  const packages = ['esbuild', 'sql.js'].filter((name) =>
    Object.keys(cache).some((path) => path.includes('/node_modules/' + name + '/')),
  );
  process.stderr.write(JSON.stringify({ fetch, packages }));
});
`;

test('a built command starts our other scripts, and says nothing of its age while no source is newer', async (t) => {
  const folder = await builtCommands(t, ['connect', 'recall'], later);
  const memory = aRepository(t, {
    '.github/memory.yml': 'version: 1\n',
    'memories/memory_summary.md': 'v1\n\n## General Tips\n- Only pnpm works here [k3f7x2ab@1]\n',
  });
  const project = aRepository(t, { 'README.md': 'The shop.\n' });
  const args = [join(folder, 'connect.mjs'), 'agents-md', '--print', '--project', project, '--memory', memory];
  const env = { ...process.env, HOME: temporaryFolder(t) };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /Only pnpm works here/);
  assert.doesNotMatch(stderr, /older than/);
});

test('a built command that is older than its sources says so, and does its work', async (t) => {
  const folder = await builtCommands(t, ['status'], 1);
  const repository = aRepository(t, { 'README.md': 'The memory.\n' });
  const args = [join(folder, 'status.mjs'), '--json', '--repo', repository];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.ok(JSON.parse(stdout).sessions);
  assert.match(stderr, /These programs are older than package-lock\.json.*npm run build/);
});

test('a source that cannot be built is named, and nothing is written', async (t) => {
  const home = temporaryFolder(t);
  writeFiles(home, { 'scripts/broken.ts': 'const = 1;\n' });
  await assert.rejects(
    bundleCommands(home, ['scripts/broken.ts'], join(home, '.build'), 1),
    /The commands could not be built: scripts\/broken\.ts:1:6: ERROR/,
  );
});
