import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  chooseRepository,
  isIncluded,
  relativeCwd,
  relativeFile,
  repositoryId,
} from '../../scripts/rollout/identity.ts';

test('every way to write a remote is one repository', () => {
  for (const url of [
    'https://github.com/Acme/Web.git',
    'https://GitHub.com/Acme/Web/',
    'https://dana:secret@github.com:443/Acme/Web.git',
    'http://github.com/Acme/Web',
    'ssh://git@github.com/Acme/Web.git',
    'ssh://git@ssh.github.com:443/Acme/Web.git',
    'git+ssh://git@github.com:22/Acme/Web',
    'git://github.com/Acme/Web.git',
    'git@github.com:Acme/Web.git',
    'git@github.com:/Acme/Web.git',
    'github.com:Acme/Web',
    '  https://github.com/Acme//Web.git?x=1#y ',
  ])
    assert.equal(repositoryId(url), 'github.com/Acme/Web', url);
  assert.equal(repositoryId('https://git.example.test/group/sub/app.git'), 'git.example.test/group/sub/app');
});

test('what names no host, or too much for the name of a file, has no repository id', () => {
  for (const url of [
    '',
    '/srv/git/a.git',
    './a',
    '../a',
    'file:///srv/a.git',
    'C:\\projects\\a',
    'C:/projects/a',
    '\\\\server\\a',
    'ext::sh -c x',
    'https://host',
    'https://host/../a',
    'host:',
    'a\u0000b:c',
    'https:///a',
    `https://git.example.test/acme/${'x'.repeat(300)}.git`,
    `https://git.example.test/acme/${'é'.repeat(60)}.git`,
  ])
    assert.equal(repositoryId(url), null, url);
});

test('the first wanted remote is the repository, else the first; the others are aliases', () => {
  const ids = ['github.com/dana/web', 'github.com/acme/web'];
  assert.deepEqual(chooseRepository(ids, []), { repo: ids[0], aliases: [ids[1]] });
  assert.deepEqual(chooseRepository(ids, ['github.com/other/x', 'github.com/acme/*']), {
    repo: ids[1],
    aliases: [ids[0]],
  });
  assert.deepEqual(chooseRepository(ids, ['github.com/acme/web', 'github.com/dana/web']), {
    repo: ids[1],
    aliases: [ids[0]],
  });
  assert.deepEqual(chooseRepository([], ['x/*']), { repo: null, aliases: [] });
  assert.equal(isIncluded('github.com/acme-evil/web', ['github.com/acme/*']), false);
});

test("no path leaves a home folder's or a machine's name", () => {
  const root = '/home/dana/src/web';
  const show = (path: string, within: string | null = root) => relativeCwd(path, within, '/data/people/dana');
  assert.equal(show('/home/dana/src/web'), '.');
  assert.equal(show('/home/dana/src/web/'), '.');
  assert.equal(show('/home/dana/src/web/api/../ui'), 'ui');
  assert.equal(show('/home/dana/src/web-old'), '~/src/web-old');
  assert.equal(show('/home/other/x'), '~/x');
  assert.equal(show('/Users/dana.d/x', null), '~/x');
  assert.equal(show('C:\\Users\\Dana\\src\\web', null), '~/src/web');
  assert.equal(show('c:/Users/Dana', null), '~');
  assert.equal(show('/data/people/dana/x', null), '~/x');
  assert.equal(show('/data/people/dana', null), '~');
  assert.equal(show('/data/people/danae/x', null), '…/x');
  assert.equal(show('/srv/customer/app', null), '…/app');
  assert.equal(show('D:\\customer\\app', null), '…/app');
  assert.equal(show('/', null), '…');
  assert.equal(show('../../etc/passwd', null), '…/passwd');
  assert.equal(show('src/a.ts', null), 'src/a.ts');
});

test('Windows paths are relative to their root whatever their case and slashes', () => {
  assert.equal(relativeCwd('c:\\Work\\Web\\src\\A.ts', 'C:\\work\\web', ''), 'src/A.ts');
  assert.equal(relativeFile('src\\a.ts', 'C:\\work\\web', 'C:\\work\\web', ''), 'src/a.ts');
  assert.equal(relativeFile('file:///home/dana/src/web/a.ts', null, '/home/dana/src/web', ''), 'a.ts');
  assert.equal(relativeFile('../b.ts', '/home/dana/src/web/api', '/home/dana/src/web', ''), 'b.ts');
  assert.equal(relativeFile('../../x/b.ts', '/home/dana/src/web', '/home/dana/src/web', ''), '~/x/b.ts');
});
