import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryError } from '../../scripts/shared/errors.ts';
import { pathFault, safePath } from '../../scripts/shared/safe-path.ts';

test('a plain relative path is safe, in any script', () => {
  for (const path of [
    'memories/MEMORY.md',
    'a',
    'ü/漢 字.md',
    '.github/x',
    '.gitignore',
    'a/.gitkeep',
    'git~2',
    'ab:c',
    '...',
  ])
    assert.equal(safePath(path), path);
});

test('a path that leaves the repository, hides in .git or has another spelling is refused', () => {
  const bad = [
    '',
    '/a',
    'a//b',
    'a/',
    './a',
    'a/./b',
    '../a',
    'a/..',
    'a\\b',
    'C:/x',
    'c:x',
    ':x',
    'a\0',
    'a\nb',
    'a\x7f',
  ];
  const git = ['.git', 'a/.GIT/b', 'GIT~1', '.git.', '.git ', '.git. .', '.git::$INDEX', '.g\u200cit', 'x/.giT'];
  for (const path of [...bad, ...git, 'a/\ud800', 'x'.repeat(256), `${'x/'.repeat(2100)}x`]) {
    assert.notEqual(pathFault(path), null, JSON.stringify(path));
    assert.throws(() => safePath(path), MemoryError);
  }
});
