import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readBundle, writeBundle } from '../../scripts/git/bundle.ts';
import { openRepository } from '../../scripts/git/open.ts';
import type { Repository } from '../../scripts/git/types.ts';
import { commitNight, type Made } from '../../scripts/nightly/commits.ts';
import { acceptResult } from '../../scripts/nightly/stages/accept.ts';
import type { ResultFile } from '../../scripts/nightly/stages/result-file.ts';
import { refsOnPaper } from '../../scripts/nightly/stages/stage.ts';
import { loadStart, type Start } from '../../scripts/nightly/start.ts';
import { aRepository, env, git, temporaryFolder, writeFiles } from '../support/repository.ts';

type Played = Extract<ResultFile, { outcome: 'played' }>;

interface World {
  readonly dir: string;
  readonly repository: Repository;
  readonly start: Start;
  readonly result: Played;
}

const author = { name: 'bot', email: 'bot@example.test' };
const words = {
  runId: '0123456789abcdef',
  at: 1_795_132_800,
  sessions: 1,
  repositories: ['git.example.test/acme/shop'],
  trailers: { 'Memory-Run': '0123456789abcdef' },
};

/** A night that changed the handbook and the books, on top of a default branch with other files. */
async function aNight(t: TestContext): Promise<World> {
  const dir = aRepository(t, { 'README.md': 'Ours.\n', 'scripts/run.sh': 'true\n', 'memories/MEMORY.md': 'Old.\n' });
  const repository = await openRepository(dir, { env });
  const start = await loadStart(repository);
  const made: Made = {
    ...words,
    files: new Map([
      ['memories/MEMORY.md', 'New.\n'],
      ['memories/raw_memories.md', 'Raw.\n'],
    ]),
    stateText: start.stateText,
    baseline: new Map(),
    author,
  };
  const { tip, state: books } = await commitNight(repository, refsOnPaper, start, made);
  return { dir, repository, start, result: played(tip, books) };
}

function played(tip: string | null, state: string | null): Played {
  const usage = { requests: 0, input: 0, cached: 0, output: 0, microUsd: 0 };
  const told = { scopes: new Map(), secrets: {}, usage, next: { waiting: 0, failed: 0, held: [] } };
  return { outcome: 'played', run: '1/1', words, tip, state, told, expired: { threads: [], notSince: 0 } };
}

/** A commit on top of another with this done to its tree: `<mode> <path>` → content, null deletes. */
function commitWith(dir: string, base: string, changes: Readonly<Record<string, string | null>>, ...parents: string[]) {
  git(dir, 'read-tree', base);
  for (const [entry, content] of Object.entries(changes)) {
    const [mode = '', path = ''] = entry.split(' ');
    if (content === null) {
      git(dir, 'update-index', '--force-remove', path);
      continue;
    }
    const file = join(dir, '.git/blob');
    writeFiles(join(dir, '.git'), { blob: content });
    const oid = mode === '160000' ? content : git(dir, 'hash-object', '-w', file);
    git(dir, 'update-index', '--add', '--cacheinfo', `${mode},${oid},${path}`);
  }
  const args = (parents.length === 0 ? [base] : parents).flatMap((parent) => ['-p', parent]);
  return git(dir, 'commit-tree', git(dir, 'write-tree'), ...args, '-m', 'A night');
}

test('what a night made is accepted as it is, after a bundle too', async (t) => {
  const { repository, start, result } = await aNight(t);
  const made = await acceptResult(repository, start, result, author);
  assert.equal(made.files.get('memories/MEMORY.md'), 'New.\n');
  assert.equal(made.stateText, start.stateText);
  const nothing = await acceptResult(repository, start, played(null, null), author);
  assert.equal(nothing.files, start.standing);
});

const hostile: readonly [string, RegExp, (world: World) => string][] = [
  [
    'another path',
    /it changes \.github\/workflows\/evil\.yml/,
    ({ dir, start }) => commitWith(dir, of(start), { '100644 .github/workflows/evil.yml': 'on: push\n' }),
  ],
  [
    'a script that changed',
    /it changes scripts\/run\.sh/,
    ({ dir, start }) => commitWith(dir, of(start), { '100644 scripts/run.sh': 'rm\n' }),
  ],
  [
    'a file that is gone',
    /it changes README\.md/,
    ({ dir, start }) => commitWith(dir, of(start), { '100644 README.md': null }),
  ],
  [
    'a path that only begins like ours',
    /it changes memories\.md/,
    ({ dir, start }) => commitWith(dir, of(start), { '100644 memories.md': 'x\n' }),
  ],
  [
    'a mode that changed',
    /it changes scripts\/run\.sh/,
    ({ dir, start }) => commitWith(dir, of(start), { '100755 scripts/run.sh': 'true\n' }),
  ],
  [
    'an executable',
    /memories\/run is no plain file in it \(executable\)/,
    ({ dir, start }) => commitWith(dir, of(start), { '100755 memories/run': 'true\n' }),
  ],
  [
    'a symbolic link',
    /memories\/link is no plain file in it \(link\)/,
    ({ dir, start }) => commitWith(dir, of(start), { '120000 memories/link': '/etc/passwd' }),
  ],
  [
    'a submodule',
    /memories\/sub is no plain file in it \(repository\)/,
    ({ dir, start }) => commitWith(dir, of(start), { '160000 memories/sub': of(start) }),
  ],
  [
    'a link where the books are',
    /state\.sqlite\.json is no plain file/,
    ({ dir, start }) => commitWith(dir, of(start), { '120000 state.sqlite.json': 'x' }),
  ],
  [
    'a parent that is another',
    /does not grow from what the night started from/,
    ({ dir, result }) => git(dir, 'commit-tree', `${result.tip}^{tree}`, '-m', 'A root'),
  ],
  [
    'more commits than a night writes',
    /does not grow from what the night started from/,
    ({ dir, result }) =>
      commitWith(dir, commitWith(dir, String(result.tip), { '100644 memories/MEMORY.md': 'a\n' }), {
        '100644 memories/MEMORY.md': 'b\n',
      }),
  ],
  [
    'another parent beside ours',
    /does not grow from what the night started from/,
    ({ dir, start, result }) => commitWith(dir, String(result.tip), {}, of(start), String(result.tip)),
  ],
  [
    'a message of its own',
    /not what their files make of this start/,
    ({ dir, start }) => commitWith(dir, of(start), { '100644 memories/MEMORY.md': 'New.\n' }),
  ],
];

function of(start: Start): string {
  return start.parents[0] ?? '';
}

for (const [what, reason, commit] of hostile) {
  test(`a result with ${what} is refused`, async (t) => {
    const world = await aNight(t);
    const tip = commit(world);
    await assert.rejects(acceptResult(world.repository, world.start, { ...world.result, tip }, author), reason);
  });
}

test('books that hold another file, no text or a damaged table are refused', async (t) => {
  const { dir, repository, start, result } = await aNight(t);
  const books = String(result.state);
  const refused = (state: string, reason: RegExp) =>
    assert.rejects(acceptResult(repository, start, { ...result, state }, author), reason);
  await refused(commitWith(dir, books, { '100644 evil.sh': 'x\n' }), /the state's commit holds evil\.sh \(file\)/);
  await refused(commitWith(dir, books, { '120000 baseline/x': 'y' }), /the state's commit holds baseline\/x \(link\)/);
  await refused(commitWith(dir, books, { '100644 state.sqlite.json': '{}\n' }), /state\.sqlite\.json/);
  await refused(commitWith(dir, books, { '100644 night.json': '{}\n' }), /night\.json/);
  await refused(commitWith(dir, books, {}), /not what their files make/);
});

test('a bundle brings its commits whole, and one that is damaged brings none', async (t) => {
  const { dir, repository, start, result } = await aNight(t);
  const file = join(dir, '.git/night.bundle');
  const heads = new Map([['refs/memory/night/tip', String(result.tip)]]);
  await writeBundle(repository, env, file, heads, start.parents);
  assert.equal(git(dir, 'for-each-ref', 'refs/memory'), '');
  const clone = join(temporaryFolder(t), 'clone');
  git(dir, 'clone', '--quiet', '--no-local', dir, clone);
  const there = await openRepository(clone, { env });
  assert.deepEqual(await readBundle(there, env, file), heads);
  assert.equal((await there.readCommit(String(result.tip))).oid, result.tip);
  const other = aRepository(t);
  await assert.rejects(readBundle(await openRepository(other, { env }), env, file), /cannot be taken in/);
  for (const [text, reason] of [
    ['', /no Git bundle/],
    ['# v2 git bundle\n', /no Git bundle|cannot be taken in/],
    ['# v2 git bundle\nx refs/a/b\n\nPACK', /no object id/],
    [`# v2 git bundle\n${result.tip} ../../x\n\nPACK`, /no name for a ref/],
    [`# v2 git bundle\n${result.tip} refs/a/b\n\nPACK0000`, /cannot be taken in/],
  ] as const) {
    writeFiles(join(dir, '.git'), { bad: text });
    await assert.rejects(readBundle(there, env, join(dir, '.git/bad')), reason);
  }
});
