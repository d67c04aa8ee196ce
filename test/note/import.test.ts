import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { archivedNotes } from '../../scripts/archive/notes.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { aLaptop, app, appUrl, aTeam, type TestLaptop, touch } from '../support/laptops.ts';
import { note } from '../support/notes.ts';
import { env, git, writeFiles } from '../support/repository.ts';
import { joined, made } from '../support/secrets.ts';

const fact = '---\nname: no-jest\ndescription: never use jest\n---\n\nUse node --test.\n';

function aCheckout({ home }: TestLaptop, name: string, url = appUrl): string {
  const folder = join(home, 'src', name);
  mkdirSync(folder, { recursive: true });
  git(folder, 'init', '--quiet');
  git(folder, 'remote', 'add', 'origin', url);
  return folder;
}

function session(cwd: string): string {
  return `{"type":"summary"}\n${JSON.stringify({ type: 'user', cwd, sessionId: 'x', message: { content: 'Hi' } })}\n`;
}

function setUp(t: TestContext) {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  const bring = (args: readonly string[], answer?: string) =>
    note(laptop, ['--json', ...args], answer === undefined ? {} : { answer });
  const carried = async () => {
    await laptop.collect();
    const repository = await openRepository(team, { env });
    return (await archivedNotes(repository, await repository.readRef(archiveRef))).notes;
  };
  return { laptop, bring, carried };
}

test('Claude Code’s notes of an included repository are shown, asked about and sent, without secrets and home folders', async (t) => {
  const { laptop, bring, carried } = setUp(t);
  const secret = joined('ghp_', made(36));
  const project = '.claude/projects/-home-dana-src-app';
  writeFiles(laptop.home, {
    [`${project}/a.jsonl`]: session(aCheckout(laptop, 'app')),
    [`${project}/memory/MEMORY.md`]: `- [No jest](no-jest.md), token ${secret}, see ${laptop.home}/x\n`,
    [`${project}/memory/no-jest.md`]: fact,
  });
  const shown = JSON.parse((await bring(['--import', 'claude-code', '--dry-run'])).stdout);
  assert.equal(shown.outcome, 'would_import');
  assert.deepEqual(
    shown.files.map(({ name, repo }: { name: string; repo: string }) => [name.replace(/[0-9a-f]{8}\.md$/, ''), repo]),
    [
      ['2026-11-30T08-00-00-claude-code-app-memory-', app],
      ['2026-11-30T08-00-00-claude-code-app-no-jest-', app],
    ],
  );
  assert.equal((await bring(['--import', 'claude-code'])).code, 2);
  assert.equal(JSON.parse((await bring(['--import', 'claude-code'], 'n')).stdout).outcome, 'quiet');
  assert.deepEqual(await carried(), []);
  assert.equal(JSON.parse((await bring(['--import', 'claude-code'], 'y')).stdout).outcome, 'imported');
  const notes = await carried();
  assert.deepEqual(
    notes.map(({ kind, authority, channel }) => [kind, authority, channel]),
    Array(2).fill(['resource', 'agent', 'import-claude-code']),
  );
  assert.equal(notes[0]?.text, '- [No jest](no-jest.md), token [REDACTED_SECRET], see ~/x\n');
  assert.equal(notes[1]?.text, fact);
});

test('what was brought in is not brought in again; what changed is', async (t) => {
  const { laptop, bring, carried } = setUp(t);
  const project = '.claude/projects/-home-dana-src-app';
  writeFiles(laptop.home, {
    [`${project}/a.jsonl`]: session(aCheckout(laptop, 'app')),
    [`${project}/memory/a.md`]: 'One.\n',
    [`${project}/memory/b.md`]: 'Two.\n',
  });
  await bring(['--import', 'claude-code', '--yes']);
  await carried();
  writeFiles(laptop.home, { [`${project}/memory/b.md`]: 'Two, later.\n' });
  const again = JSON.parse((await bring(['--import', 'claude-code', '--yes'])).stdout);
  assert.deepEqual([again.files.length, again.same], [1, 1]);
  assert.deepEqual((await carried()).map(({ text }) => text).sort(), ['One.\n', 'Two, later.\n', 'Two.\n']);
});

test('a project is refused where its repository is not certain or not included', async (t) => {
  const { laptop, bring } = setUp(t);
  const projects = '.claude/projects';
  writeFiles(laptop.home, {
    [`${projects}/none/memory/a.md`]: fact,
    [`${projects}/gone/a.jsonl`]: session(join(laptop.home, 'gone')),
    [`${projects}/gone/memory/a.md`]: fact,
    [`${projects}/relative/a.jsonl`]: session('src/app'),
    [`${projects}/relative/memory/a.md`]: fact,
    [`${projects}/other/a.jsonl`]: session(aCheckout(laptop, 'other', 'git@git.example.test:acme/other.git')),
    [`${projects}/other/memory/a.md`]: fact,
    [`${projects}/loose/a.jsonl`]: `not json "cwd"\n${session(laptop.home)}`,
    [`${projects}/loose/memory/a.md`]: fact,
  });
  const { files, refused } = JSON.parse((await bring(['--import', 'claude-code', '--dry-run'])).stdout);
  assert.deepEqual(files, []);
  assert.deepEqual(
    refused.map(({ path, why }: { path: string; why: string }) => [path.split('/').at(-2), why]),
    [
      ['gone', 'no session of it names a folder that is there'],
      ['loose', 'its folder is in no repository with a remote'],
      ['none', 'no session of it names a folder that is there'],
      ['other', 'include of .github/memory.yml does not name git.example.test/acme/other'],
      ['relative', 'no session of it names a folder that is there'],
    ],
  );
});

test('the newest session whose folder is there says the repository', async (t) => {
  const { laptop, bring } = setUp(t);
  const project = join(laptop.home, '.claude/projects/x');
  writeFiles(project, {
    'gone.jsonl': session(join(laptop.home, 'gone')),
    'new.jsonl': session(aCheckout(laptop, 'app')),
    'old.jsonl': session(aCheckout(laptop, 'other', 'git@git.example.test:acme/other.git')),
    'memory/a.md': fact,
  });
  touch(join(project, 'old.jsonl'), '2026-11-01T00:00:00Z');
  touch(join(project, 'new.jsonl'), '2026-11-02T00:00:00Z');
  touch(join(project, 'gone.jsonl'), '2026-11-03T00:00:00Z');
  const { files } = JSON.parse((await bring(['--import', 'claude-code', '--from', project, '--dry-run'])).stdout);
  assert.deepEqual(
    files.map(({ repo }: { repo: string }) => repo),
    [app],
  );
});

test('links, folders, other files, blank, broken and huge ones stay', async (t) => {
  const { laptop, bring } = setUp(t);
  const project = join(laptop.home, '.claude/projects/x');
  writeFiles(project, {
    'a.jsonl': session(aCheckout(laptop, 'app')),
    'memory/blank.md': ' \n',
    'memory/huge.md': 'x'.repeat(65_537),
    'memory/notes.txt': 'No Markdown.',
    'memory/deep/a.md': 'Deeper.',
    '../../private.md': 'Private.',
  });
  writeFiles(project, { 'memory/latin.md': '' });
  const { writeFileSync } = await import('node:fs');
  writeFileSync(join(project, 'memory/latin.md'), Buffer.from([0x66, 0xfc, 0x72]));
  symlinkSync(join(laptop.home, '.claude/private.md'), join(project, 'memory/link.md'));
  symlinkSync(project, join(laptop.home, '.claude/projects/linked'));
  const { files, refused } = JSON.parse((await bring(['--import', 'claude-code', '--dry-run'])).stdout);
  assert.deepEqual(files, []);
  assert.deepEqual(
    refused.map(({ path, why }: { path: string; why: string }) => [path.split('/').at(-1), why]),
    [
      ['huge.md', 'it has more than 65536 bytes'],
      ['latin.md', 'it is no UTF-8'],
      ['blank.md', 'it is blank'],
    ],
  );
});

test('of Codex’s memory come the blocks whose folder is in an included repository; the rest needs a name', async (t) => {
  const { laptop, bring, carried } = setUp(t);
  aCheckout(laptop, 'app');
  const own = '# Task Group: the app\nscope: tests\napplies_to: cwd=~/src/app; reuse_rule=here only\n\n- Seed first.\n';
  const other = '# Task Group: elsewhere\nscope: x\napplies_to: cwd=/nowhere/at/all; reuse_rule=never\n';
  writeFiles(laptop.home, {
    '.codex/memories/MEMORY.md': `${own}\n${other}`,
    '.codex/memories/memory_summary.md': 'v1\n\nThe person likes tea.\n',
    '.codex/memories/skills/seed/SKILL.md': '---\nname: seed\n---\nRun `make seed`.\n',
    '.codex/memories/skills/seed/scripts/run.sh': 'touch /tmp/ran\n',
  });
  const { files, refused } = JSON.parse((await bring(['--import', 'codex', '--yes'])).stdout);
  assert.deepEqual(
    files.map(({ name }: { name: string }) => name.replace(/[0-9a-f]{8}\.md$/, '')),
    ['2026-11-30T08-00-00-codex-app-memory-the-app-'],
  );
  assert.equal(refused.length, 3);
  assert.match(refused[0].why, /name one with --repository/);
  assert.deepEqual(
    (await carried()).map(({ text, repo }) => [text, repo]),
    [[`${own}\n`, app]],
  );
  const named = JSON.parse((await bring(['--import', 'codex', '--repository', app, '--dry-run'])).stdout);
  assert.deepEqual([named.files.length, named.same, named.refused], [3, 1, []]);
});

test('a memory that is not there says which folder to name', async (t) => {
  const { bring } = setUp(t);
  const { code, stderr } = await bring(['--import', 'codex', '--dry-run']);
  assert.equal(code, 1);
  assert.match(stderr, /\.codex\/memories cannot be read \(ENOENT\)[\s\S]*--from/);
});
