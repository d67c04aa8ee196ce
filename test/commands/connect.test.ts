import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { snapshot } from '../support/connected.ts';
import { aLaptop, aTeam } from '../support/laptops.ts';
import { command, root } from '../support/nights.ts';
import { aRepository, commitAll, git, temporaryFolder, writeFiles } from '../support/repository.ts';

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

test('a laptop that allowed collecting is connected with both, by programs of this version, and disconnected whole', async (t) => {
  const laptop = aLaptop(t, aTeam(t));
  const home = join(laptop.home, 'person');
  writeFiles(home, { '.codex/config.toml': '[features]\nhooks = true\n' });
  const before = snapshot(home);
  const env = { ...laptop.env, HOME: home };
  const { code, stdout, stderr } = await command('connect', ['codex', '--memory', laptop.clone, '--json'], { env });
  assert.equal(code, 0, stderr);
  const report = JSON.parse(stdout);
  assert.deepEqual([report.recall, report.collect, report.memory], [true, true, laptop.clone]);
  const [folder] = report.pinned;
  assert.ok(folder.startsWith(join(laptop.env.CTM_HOME ?? '', `cache/commit-to-memory/${version}-`)), folder);
  assert.deepEqual(Object.keys(snapshot(folder)), ['collect.mjs', 'collector.mjs', 'recall.cjs']);
  const removed = await command('connect', ['codex', '--remove'], { env });
  assert.equal(removed.code, 0, removed.stderr);
  assert.deepEqual(snapshot(home), before);
  assert.deepEqual(Object.keys(snapshot(join(laptop.env.CTM_HOME ?? '', 'cache'))), []);
});

test('AGENTS.md is given what a session in that project would be given', async (t) => {
  const memory = aRepository(t, {
    '.github/memory.yml': 'version: 1\n',
    'memories/memory_summary.md': 'v1\n\n## General Tips\n- Only pnpm works here [k3f7x2ab@1]\n',
  });
  const shop = aRepository(t, { 'README.md': 'The shop.\n' });
  git(shop, 'remote', 'add', 'origin', 'git@git.example.test:acme/shop.git');
  const env = { HOME: temporaryFolder(t) };
  const { code, stderr } = await command('connect', ['agents-md', '--project', shop, '--memory', memory], { env });
  assert.equal(code, 0, stderr);
  const text = readFileSync(join(shop, 'AGENTS.md'), 'utf8');
  assert.match(text, /^<!-- commit-to-memory:begin [\s\S]*Only pnpm works here[\s\S]*<!-- commit-to-memory:end -->\n$/);
  assert.ok(!text.includes(memory));
  commitAll(shop, 'Remember');
});

test('a memory that is no repository, or an address with a password, is refused before anything is written', async (t) => {
  const home = temporaryFolder(t);
  const refusals = [
    [temporaryFolder(t), /no Git repository|not a repository|is no repository/i],
    ['https://dana:s3cr3t@git.example.test/acme/memory', /holds a password/],
  ] as const;
  for (const [memory, reason] of refusals) {
    const { code, stdout, stderr } = await command('connect', ['gemini', '--memory', memory], { env: { HOME: home } });
    assert.ok(code === 1 || code === 2);
    assert.equal(stdout, '');
    assert.match(stderr, reason);
    assert.ok(!stderr.includes('s3cr3t'));
  }
  assert.deepEqual(snapshot(home), {});
});
