import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openRepository } from '../../scripts/git/open.ts';
import { signatureOf } from '../../scripts/nightly/compose.ts';
import { loadConfig } from '../../scripts/nightly/settings.ts';
import { upgradeCommand, upgradeSpec } from '../../scripts/upgrade/command.ts';
import { type Ended, ranHere } from '../support/nights.ts';
import { aRepository, commitAll, git, writeFiles } from '../support/repository.ts';
import { aTeamOnServers, botToken, edit } from '../support/team.ts';

const bytes = Buffer.from([0xff, 0x00, 0x0d, 0x0a]);

/** The template: v0.1.0, and v0.2.0 with something new, changed, removed and made executable. */
function aTemplate(t: TestContext): string {
  const dir = aRepository(t, {
    'package.json': '{ "version": "0.1.0" }\n',
    'README.md': 'Template\n',
    'scripts/a.ts': 'a1\n',
    'scripts/b.ts': 'b1\n',
    'scripts/old.ts': 'old\n',
    '.ci/run': '#!/bin/sh\n',
    '.github/memory.yml': 'version: 1\n',
    '.github/CODEOWNERS': '* @template\n',
    'memories/MEMORY.md': 'an example\n',
  });
  git(dir, 'tag', 'v0.1.0');
  writeFiles(dir, {
    'package.json': '{ "version": "0.2.0" }\n',
    'README.md': 'Template, again\n',
    'scripts/a.ts': 'a2\n',
    'scripts/b.ts': 'b2\n',
    'test/fixtures/bytes': bytes,
    '.github/memory.yml': 'version: 1\nenabled: false\n',
    '.github/CODEOWNERS': '* @templates\n',
    'memories/MEMORY.md': 'another example\n',
    'state.sqlite.json': '{}\n',
  });
  rmSync(join(dir, 'scripts/old.ts'));
  chmodSync(join(dir, '.ci/run'), 0o755);
  commitAll(dir, 'Second');
  git(dir, 'tag', '--annotate', '--message', 'Second', 'v0.2.0');
  writeFiles(dir, { 'scripts/next.ts': 'not released\n' });
  commitAll(dir, 'Third');
  return dir;
}

/** A repository made from v0.1.0, in which a team has worked. */
function aTeamsOwn(t: TestContext, more: Readonly<Record<string, string>> = {}): string {
  return aRepository(t, {
    'package.json': '{ "version": "0.1.0" }\n',
    'README.md': 'Template\n',
    'scripts/a.ts': 'a1\n',
    'scripts/b.ts': 'b1\n',
    'scripts/old.ts': 'old\n',
    'scripts/own.ts': 'own\n',
    '.ci/run': '#!/bin/sh\n',
    '.github/memory.yml': 'version: 1\ninclude: [git.example.test/acme/*]\n',
    '.github/CODEOWNERS': '* @acme\n',
    'memories/MEMORY.md': 'what was learned\n',
    'state.sqlite.json': '{"of":"ours"}\n',
    ...more,
  });
}

function upgrade(repo: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  const run = async (world: Parameters<typeof upgradeCommand>[0]) => {
    const repository = await openRepository(repo, { env: world.env });
    const config = await loadConfig(repository);
    return upgradeCommand(world, { repository, config, author: signatureOf(config) });
  };
  return ranHere(upgradeSpec, run, ['--repo', repo, ...args], env);
}

const branch = 'refs/heads/memory/upgrade';

test('the newest release is one commit on a new branch, and memory, state and settings are as they were', async (t) => {
  const [template, own] = [aTemplate(t), aTeamsOwn(t)];
  const ended = await upgrade(own, ['--from', template]);
  assert.equal(ended.code, 0, ended.stderr);
  assert.match(ended.stdout, /v0\.1\.0 → v0\.2\.0\ntakes {5}6 files written, 1 removed\nkept {6}scripts\/own\.ts: /);
  assert.equal(git(own, 'rev-parse', `${branch}^`), git(own, 'rev-parse', 'main'));
  assert.deepEqual(git(own, 'diff', '--name-status', 'main', branch).split('\n'), [
    'M\t.ci/run',
    'M\tREADME.md',
    'M\tpackage.json',
    'M\tscripts/a.ts',
    'M\tscripts/b.ts',
    'D\tscripts/old.ts',
    'A\ttest/fixtures/bytes',
  ]);
  assert.match(git(own, 'ls-tree', branch, '.ci/run'), /^100755 /);
  assert.equal(git(own, 'cat-file', '-s', `${branch}:test/fixtures/bytes`), String(bytes.length));
  assert.equal(git(own, 'status', '--porcelain'), '', 'the working tree is as it was');
  assert.deepEqual(readdirSync(join(own, '.git/memory')), [], 'the template’s objects are gone');
  assert.deepEqual(git(own, 'for-each-ref', '--format=%(refname)').split('\n'), ['refs/heads/main', branch]);
  assert.equal((await upgrade(own, ['--from', template])).code, 0, 'the same upgrade is the same commit');
  git(own, 'merge', '--quiet', 'memory/upgrade');
  const again = await upgrade(own, ['--from', template]);
  assert.match(again.stdout, /v0\.2\.0 → v0\.2\.0\ntakes {5}0 files written, 0 removed\n(kept .*\n)?Nothing to take\./);
});

test('files that both sides changed are left alone, said loudly, and the exit code tells', async (t) => {
  const template = aTemplate(t);
  const own = aTeamsOwn(t, { 'scripts/a.ts': 'ours\n', 'scripts/old.ts': 'ours\n', 'README.md': 'Our memory\n' });
  const ended = await upgrade(own, ['--from', template]);
  assert.equal(ended.code, 3);
  for (const path of ['README.md', 'scripts/a.ts', 'scripts/old.ts']) {
    assert.match(ended.stdout, new RegExp(`^conflict  ${path}: changed here and there, left as it is$`, 'm'));
    assert.match(ended.stderr, new RegExp(`^warning: ${path} was changed here and in the template`, 'm'));
    assert.equal(git(own, 'diff', '--name-only', 'main', branch, '--', path), '');
  }
  assert.equal(git(own, 'show', `${branch}:scripts/b.ts`), 'b2');
});

test('a dry run writes nothing, and a tag, a branch or a base can be named', async (t) => {
  const [template, own] = [aTemplate(t), aTeamsOwn(t, { 'package.json': `{ "version": "0.0.9" }\n` })];
  const unknown = await upgrade(own, ['--from', template]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /the template has no tag v0\.0\.9\.[\s\S]*--base/);
  const ended = await upgrade(own, ['--from', template, '--base', 'v0.1.0', '--ref', 'main', '--dry-run', '--json']);
  assert.equal(ended.code, 3, 'package.json was changed on both sides');
  const { outcome, target, taken, conflicts } = JSON.parse(ended.stdout) as Record<string, unknown>;
  assert.deepEqual([outcome, target, conflicts], ['dry_run', 'main', ['package.json']]);
  assert.ok(JSON.stringify(taken).includes('scripts/next.ts'));
  assert.equal(git(own, 'for-each-ref', '--format=%(refname)'), 'refs/heads/main');
  const commit = git(template, 'rev-parse', 'v0.1.0');
  assert.match((await upgrade(own, ['--from', template, '--base', commit, '--dry-run'])).stdout, /→ v0\.2\.0/);
  const missing = await upgrade(own, ['--from', template, '--ref', 'v9.0.0']);
  assert.equal(missing.code, 2);
  assert.match(missing.stderr, /no tag or branch v9\.0\.0\.[\s\S]*v0\.1\.0, v0\.2\.0/);
});

test('it refuses edits that are not committed, a branch of that name, links, and a template that nobody named', async (t) => {
  const template = aTemplate(t);
  const own = aTeamsOwn(t);
  edit(own, 'scripts/a.ts', () => 'edited\n');
  const dirty = await upgrade(own, ['--from', template]);
  assert.equal(dirty.code, 1);
  assert.match(dirty.stderr, /Not committed: scripts\/a\.ts\. Nothing was taken/);
  git(own, 'restore', '.');
  edit(own, 'memories/MEMORY.md', () => 'edited\n');
  git(own, 'branch', 'memory/upgrade');
  const taken = await upgrade(own, ['--from', template]);
  assert.equal(taken.code, 1, 'an edit of the memory is in nobody’s way, a branch is');
  assert.match(taken.stderr, /There is a branch memory\/upgrade already/);
  git(own, 'restore', '.');
  git(own, 'branch', '-D', 'memory/upgrade');
  rmSync(join(own, 'scripts/b.ts'));
  symlinkSync('/etc/hostname', join(own, 'scripts/b.ts'));
  commitAll(own, 'A link');
  const linked = await upgrade(own, ['--from', template]);
  assert.match(linked.stdout, /^left {6}scripts\/b\.ts: a link or a submodule$/m);
  assert.match(git(own, 'ls-tree', branch, 'scripts/b.ts'), /^120000 /);
  const nowhere = await upgrade(own, []);
  assert.equal(nowhere.code, 2);
  assert.match(nowhere.stderr, /--from <url>/);
  assert.equal((await upgrade(own, ['--from', join(template, 'nothing')])).code, 1);
  assert.ok(!existsSync(join(own, '.git/memory')) || readdirSync(join(own, '.git/memory')).length === 0);
});

test('a team gets it as one pull request, refreshed and not doubled, and a person’s work on it is left alone', async (t) => {
  const template = aTemplate(t);
  const team = await aTeamOnServers(t);
  team.person('main', (to) => {
    writeFiles(to, {
      'package.json': '{ "version": "0.1.0" }\n',
      'scripts/a.ts': 'ours\n',
      'scripts/b.ts': 'b1\n',
    });
  });
  const clone = team.clone();
  const asked = () => upgrade(clone, ['--from', template], { TEAM_TOKEN: botToken });
  const first = await asked();
  assert.equal(first.code, 3, first.stderr);
  assert.match(first.stdout, /^pull {6}1 http/m);
  assert.equal(team.file(branch, 'scripts/b.ts'), 'b2');
  assert.equal(team.file('main', 'scripts/b.ts'), 'b1');
  const [pull] = team.forge.pulls;
  assert.equal(pull?.title, 'Upgrade to v0.2.0');
  assert.match(pull?.body ?? '', /both sides changed them[\s\S]*- `scripts\/a\.ts`/);
  const tip = team.tip(branch);
  assert.equal((await asked()).code, 3);
  assert.deepEqual([team.tip(branch), team.forge.pulls.length], [tip, 1]);
  team.person('main', (to) => edit(to, 'notes.txt', () => 'more\n'));
  assert.equal((await asked()).code, 3);
  assert.equal(team.forge.pulls.length, 1);
  assert.equal(
    git(team.dir, 'rev-parse', `${branch}^`),
    team.tip('refs/heads/main'),
    'it stands on today’s default branch',
  );
  team.person(branch.replace('refs/heads/', ''), (to) => edit(to, 'scripts/b.ts', () => 'a person’s\n'));
  const theirs = team.tip(branch);
  team.person('main', (to) => edit(to, 'notes.txt', () => 'even more\n'));
  const refused = await asked();
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /Somebody has worked on the branch memory\/upgrade/);
  assert.equal(team.tip(branch), theirs);
});
