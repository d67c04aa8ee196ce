import assert from 'node:assert/strict';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openRepository } from '../../scripts/git/open.ts';
import { openRemote } from '../../scripts/git/remote.ts';
import { aRemote, commit, commitThere, writer } from '../support/remotes.ts';
import { aRepository, env, git, temporaryFolder, writeFiles } from '../support/repository.ts';

const state = 'refs/memory/state';

/** A folder with one program in it, before the usual ones. */
function pathWith(t: TestContext, name: string, text: string): { folder: string; PATH: string } {
  const folder = temporaryFolder(t);
  writeFiles(folder, { [name]: text });
  chmodSync(join(folder, name), 0o755);
  return { folder, PATH: `${folder}:${process.env.PATH}` };
}

/** Carries out on this machine what was asked of the other one, and notes how it was asked. */
const ssh = `#!/bin/sh
echo "$@" >> "$(dirname "$0")/asked"
for last; do :; done
exec sh -c "$last"
`;

test('git: a remote by name is read from its url and pushed to its pushurl; paths and files are remotes as well', async (t) => {
  const { server, commit, repository, dir } = await aRemote(t, 'git');
  server.create('other');
  git(dir, 'remote', 'add', 'origin', server.dir('team'));
  git(dir, 'config', 'remote.origin.pushurl', `file://${server.dir('other')}`);
  const theirs = commitThere(server, 'refs/heads/main', 'theirs');
  const remote = await openRemote(repository, { name: 'origin', env });
  assert.deepEqual(await remote.head(), { branch: 'main', oid: theirs });
  assert.deepEqual(await remote.fetch(['refs/heads/main']), new Map([['refs/heads/main', theirs]]));
  const next = await commit('x');
  await remote.push([{ ref: state, expected: null, next }]);
  assert.equal(git(server.dir('other'), 'rev-parse', state), next);
  await assert.rejects(openRemote(repository, { name: 'upstream', env }), { message: /no remote "upstream"/ });
});

test('without the git program ssh, paths and helpers are refused with the remedy, and https works', async (t) => {
  const { server } = await aRemote(t, 'isomorphic');
  const noGit = { PATH: '/nonexistent' };
  const dir = aRepository(t);
  git(dir, 'remote', 'add', 'origin', 'codecommit::region://memory');
  const repository = await openRepository(dir, { env: noGit });
  const refused = {
    name: 'GitError',
    message: /can only be reached with the git program, which is not installed\./,
    hint: /Install git 2\.31 or newer .{0,99} https address/,
  };
  const urls = [
    'git@host.example:team/memory.git',
    'ssh://git@host.example/x',
    'git://host.example/x',
    server.dir('team'),
  ];
  for (const url of urls) await assert.rejects(openRemote(repository, { url, env: noGit }), refused);
  await assert.rejects(openRemote(repository, { name: 'origin', env: noGit }), refused);
  const remote = await openRemote(repository, { url: server.url('team'), token: writer, env: noGit });
  assert.equal(remote.backend, 'isomorphic');
  const next = await commit(repository, 'x');
  await remote.push([{ ref: state, expected: null, next }]);
  assert.equal(git(server.dir('team'), 'rev-parse', state), next);
  await assert.rejects(openRemote(repository, { url: server.url('team'), env: noGit, backend: 'git' }), {
    message: /not installed/,
  });
});

test('a git program that takes no settings from variables is passed over for https, and named for the rest', async (t) => {
  const { server, repository } = await aRemote(t, 'isomorphic');
  const { PATH } = pathWith(t, 'git', '#!/bin/sh\necho git version 2.30.2\n');
  const remote = await openRemote(repository, { url: server.url('team'), token: writer, env: { PATH } });
  assert.equal(remote.backend, 'isomorphic');
  await assert.rejects(openRemote(repository, { url: 'git@host.example:x', env: { PATH } }), {
    message: /is too old \(2\.30\)/,
  });
});

test('ssh is started so that it cannot stop to ask, unless a person says how it is started', async (t) => {
  const { server, repository, dir, commit } = await aRemote(t, 'git');
  const { folder, PATH } = pathWith(t, 'ssh', ssh);
  const url = `git@host.example:${server.dir('team')}`;
  const remote = await openRemote(repository, { url, token: writer, env: { PATH } });
  assert.equal(remote.url, url.slice('git@'.length));
  const next = await commit('x');
  await remote.push([{ ref: state, expected: null, next }]);
  assert.deepEqual(await remote.fetch([state]), new Map([[state, next]]));
  const asked = () => readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n');
  assert.ok(
    asked().every((line) => line.includes('BatchMode=yes') && line.includes('git@host.example')),
    asked().join(),
  );
  assert.ok(!asked().join().includes(writer));
  git(dir, 'config', 'core.sshCommand', `${folder}/ssh -o Mine=yes`);
  await (await openRemote(repository, { url, env: { PATH } })).listRefs([state]);
  assert.match(asked().at(-1) ?? '', /Mine=yes/);
  const own = { PATH, GIT_SSH_COMMAND: `${folder}/ssh -o Own=yes` };
  await (await openRemote(repository, { url, env: own })).listRefs([state]);
  assert.match(asked().at(-1) ?? '', /Own=yes/);
});

test('a key that ssh does not get in with, and a host it does not know, are told apart from an absent repository', async (t) => {
  const { repository, server } = await aRemote(t, 'git');
  const opened = (words: string, code: number) => {
    const { PATH } = pathWith(t, 'ssh', `#!/bin/sh\necho "${words}" >&2\nexit ${code}\n`);
    return openRemote(repository, { url: 'git@host.example:x', env: { PATH } });
  };
  await assert.rejects((await opened('git@host.example: Permission denied (publickey).', 255)).head(), {
    name: 'RemoteAuthError',
  });
  await assert.rejects((await opened('Host key verification failed.', 255)).head(), {
    name: 'RemoteUnreachableError',
    hint: /ssh -T/,
  });
  await assert.rejects((await opened('ssh: Could not resolve hostname host.example', 255)).head(), {
    name: 'RemoteUnreachableError',
  });
  await assert.rejects((await opened('ERROR: Repository not found.', 1)).head(), { name: 'RemoteNotFoundError' });
  const gone = await openRemote(repository, { url: `${server.dir('team')}x`, env });
  await assert.rejects(gone.fetch([state]), { name: 'RemoteNotFoundError' });
});
