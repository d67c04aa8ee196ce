import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { aHandbook, aSummary } from '../support/handbooks.ts';
import { command } from '../support/nights.ts';
import { aRepository, git, temporaryFolder, writeFiles } from '../support/repository.ts';

const app = 'git.example.test/acme/app';

test('recall prints what a session is given; --explain says what was left out and why', async (t) => {
  const memory = temporaryFolder(t);
  writeFiles(memory, {
    'memories/MEMORY.md': `${aHandbook(
      { repo: app, preferences: ['use pnpm', 'x'.repeat(9_500)] },
      { repo: `${app}2`, title: 'Theirs', preferences: ['OF ANOTHER'] },
    )}\n# Notes\n\n## User preferences\n- a note\n`,
    'memories/memory_summary.md': aSummary({ tips: ['read first'], contents: [`${app}2: theirs`] }),
  });
  const session = aRepository(t);
  git(session, 'remote', 'add', 'origin', `https://${app}`);
  const { code, stdout, stderr } = await command('recall', ['--memory', memory, '--cwd', session, '--explain']);
  assert.equal(code, 0);
  assert.match(
    stdout,
    /^<commit-to-memory v="1">\n[\s\S]*\n- read first\n[\s\S]*\n- use pnpm\n<\/commit-to-memory>\n$/,
  );
  assert.doesNotMatch(stdout, /OF ANOTHER/);
  for (const line of [
    new RegExp(`^repository: ${app}$`, 'm'),
    /^given: 2 lines, \d+ of 9500 characters, at most \d+ of 2500 tokens$/m,
    /^left out, no room: MEMORY\.md:13 - x+$/m,
    new RegExp(`^left out, another repository: MEMORY\\.md:\\d+ the block “Theirs” of ${app}2$`, 'm'),
    /^left out, another repository: memory_summary\.md:\d+ - git\.example\.test\/acme\/app2: theirs$/m,
    /^left out, names no repository: MEMORY\.md:\d+ the block “Notes”$/m,
  ])
    assert.match(stderr, line);
});

test('--json is one object with the text, its measures and both lists', async (t) => {
  const memory = temporaryFolder(t);
  writeFiles(memory, { 'memories/MEMORY.md': aHandbook({ repo: '*', preferences: ['say why \u202e'] }) });
  const { code, stdout, stderr } = await command('recall', ['--memory', memory, '--cwd', memory, '--json']);
  assert.deepEqual([code, stderr], [0, '']);
  const { text, characters, tokens, chosen, leftOut, repositories } = JSON.parse(stdout);
  assert.equal(text.length, characters);
  assert.ok(tokens > 100 && tokens <= 2_500);
  assert.deepEqual([chosen.length, leftOut, repositories], [1, [], []]);
  assert.ok(!stdout.includes('\u202e'));
});

test('without a memory it says so and is no failure; an address that cannot be fetched is one', async (t) => {
  const home = temporaryFolder(t);
  const nothing = await command('recall', ['--memory', home, '--cwd', home]);
  assert.deepEqual([nothing.code, nothing.stdout], [0, '']);
  assert.match(nothing.stderr, /There is no memory there/);
  const gone = ['--memory', `file://${join(home, 'gone.git')}`, '--refresh'];
  const failed = await command('recall', gone, { env: { CTM_HOME: home } });
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /The memory could not be fetched/);
});
