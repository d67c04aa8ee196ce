import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import type { Source } from '../../scripts/rollout/source.ts';
import { nightly, over, type Program, playNight, recorded, recordedSources, tips } from '../support/nights.ts';
import { aRepository, git, temporaryFolder, writeFiles } from '../support/repository.ts';

const start = { 'README.md': 'The memory of a team.\n' };
const sources = recordedSources();
let expected = { branch: '', state: '' };

before(async (t) => {
  const repo = aRepository(t as TestContext, start);
  await playNight(repo, sources);
  expected = tips(repo);
  assert.match(expected.branch + expected.state, /^[0-9a-f]{80}$/);
});

for (const concurrency of [1, 8, 64])
  test(`equal oids with ${concurrency} sessions at once`, async (t) => {
    const repo = aRepository(t, start);
    await playNight(repo, sources, { config: `model: { concurrency: ${concurrency} }` });
    assert.deepEqual(tips(repo), expected);
  });

test('equal oids whatever the order of sources, of files in a folder, and of sources that overlap', async (t) => {
  const reversed = aRepository(t, start);
  await playNight(reversed, [...sources].reverse());
  assert.deepEqual(tips(reversed), expected);
  const copy = temporaryFolder(t);
  copyReversed(recorded, copy);
  const copied = aRepository(t, start);
  const inner: Source[] = [{ agent: 'codex', path: join(copy, 'codex/legacy') }, ...recordedSources(copy)];
  await playNight(copied, inner);
  assert.deepEqual(tips(copied), expected);
});

test('equal oids in a clone in another folder, with its own remote and settings', async (t) => {
  const origin = aRepository(t, start);
  const clone = join(temporaryFolder(t), 'a folder – with ünusual name', 'deep');
  mkdirSync(clone, { recursive: true });
  git(clone, 'clone', '--quiet', origin, '.');
  git(clone, 'config', 'user.name', 'Somebody Else');
  git(clone, 'config', 'core.autocrlf', 'true');
  git(clone, 'config', 'commit.gpgsign', 'true');
  await playNight(clone, sources);
  assert.deepEqual(tips(clone), expected);
});

const elsewhere: readonly (readonly [string, Program])[] = [
  ['in Tokyo, on a Turkish machine', { env: { TZ: 'Asia/Tokyo', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' } }],
  [
    'west of Greenwich, in the C locale, on one processor thread',
    { env: { TZ: 'America/St_Johns', LC_ALL: 'C', UV_THREADPOOL_SIZE: '1' } },
  ],
  ['without the git program', { env: { PATH: '/nowhere' } }],
  ...(process.env.CTM_NODES ?? '')
    .split(':')
    .flatMap((node) => (node === '' ? [] : [[`with ${node}`, { node }] as const])),
];

for (const [where, program] of elsewhere)
  test(`equal oids ${where}`, async (t) => {
    const repo = aRepository(t, start);
    writeFiles(repo, { '.github/memory.yml': 'model: { concurrency: 3 }\n' });
    const { code, stderr } = await nightly(over(repo, sources), program);
    assert.equal(code, 0, stderr);
    assert.deepEqual(tips(repo), expected);
    assert.equal(git(repo, 'status', '--porcelain'), '?? .github/');
    assert.equal(git(repo, 'fsck', '--strict', '--no-dangling'), '');
  });

/** The same files, made in the opposite order. */
function copyReversed(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true }).reverse()) {
    if (entry.isDirectory()) copyReversed(join(from, entry.name), join(to, entry.name));
    else cpSync(join(from, entry.name), join(to, entry.name));
  }
}
