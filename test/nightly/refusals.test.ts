import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { aFix, codexText, uuid } from '../support/codex-session.ts';
import { type Ended, nightly, over, playedHere, playNight, tips } from '../support/nights.ts';
import { aRepository, commitAll, git, temporaryFolder, writeFiles } from '../support/repository.ts';

const start = { 'README.md': 'The memory of a team.\n' };

test('every mistake of the configuration is named at once, with its line, and nothing is done', async (t) => {
  const repo = aRepository(t, start);
  writeFiles(repo, {
    '.github/memory.yml': [
      'version: 2',
      'enabled: maybe',
      'audience: everyone',
      'include: [not a repository, github.com/acme/*]',
      'sources: [{ agent: cursor, path: x }, { agent: codex }]',
      'model: { provider: openai, concurrency: 0, base_url: ftp://x, key_env: "a b", prices: { extract: { input: -1 } } }',
      'budget: { phase1_tokens: many }',
      'memory: { max_unused_days: 1000, no_such_key: 1 }',
      'delivery: { mode: email }',
      'git: { author: nobody }',
      'unknown_key: 1',
    ].join('\n'),
  });
  const { code, stdout, stderr } = await nightly(over(repo, [aSource(t)]));
  assert.equal(code, 2);
  assert.equal(stdout, '');
  for (const name of [
    'version',
    'enabled',
    'audience',
    'include[0]',
    'sources[0].agent',
    'sources[1].path',
    'model.concurrency',
    'model.base_url',
    'model.key_env',
    'model.prices.extract.input',
    'model.extract_model',
    'budget.phase1_tokens',
    'memory.max_unused_days',
    'memory.no_such_key',
    'delivery.mode',
    'git.author',
    'unknown_key',
  ])
    assert.match(stderr, new RegExp(`line \\d+: ${name.replace(/[[\]]/g, '\\$&')} `), name);
  assertUntouched(repo);
});

for (const [what, text] of [
  ['broken YAML', 'include: [a\nmodel: {'],
  ['a tab for a space', 'model:\n\tprovider: builtin'],
  ['an alias', 'include: &a [x/y/z]\nexclude: *a'],
  ['a key twice', 'enabled: true\nenabled: false'],
  ['a list for a map', '- enabled'],
] as const)
  test(`a configuration with ${what} is refused with its line`, async (t) => {
    const repo = aRepository(t, start);
    writeFiles(repo, { '.github/memory.yml': text });
    const { code, stderr } = await playedHere(over(repo, [aSource(t)]));
    assert.equal(code, 2, stderr);
    assert.match(stderr, /\.github\/memory\.yml has .*mistake/);
    assertUntouched(repo);
  });

test('wrong flags are refused with what to write instead', async (t) => {
  const source = aSource(t);
  for (const [args, said] of [
    [['--sources', 'x'], /Unknown option '--sources'\.\n {2}See npm run nightly -- --help\.\n$/],
    [['--model', 'gpt'], /--model does not take “gpt”[\s\S]*builtin, openai/],
    [['--model'], /--model/],
    [['--since', 'yesterday'], /--since does not take “yesterday”[\s\S]*2026-11-01, or all/],
    [
      ['--source', 'codex'],
      /--source does not take “codex”[\s\S]*codex, claude-code, copilot, gemini, opencode or pi\./,
    ],
    [['--source', 'cursor:/x'], /--source does not take “cursor:\/x”/],
    [['--delivery', 'email'], /--delivery does not take “email”/],
    [['--now=1'], /--now/],
    [['everything'], /“everything” is one argument too many/],
    [['--model', 'openai'], /model\.extract_model/],
  ] as const) {
    const repo = aRepository(t, start);
    const { code, stderr } = await playedHere(['--repo', repo, '--source', `codex:${source.path}`, ...args]);
    assert.equal(code, 2, `${args}: ${stderr}`);
    assert.match(stderr, said);
    assertUntouched(repo);
  }
});

test('a source that is not there is an error with its remedy, beside one that is', async (t) => {
  const repo = aRepository(t, start);
  const missing = join(temporaryFolder(t), 'nowhere');
  const { code, stderr } = await playedHere(over(repo, [aSource(t), { agent: 'codex', path: missing }]));
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`The source ${missing} cannot be read[\\s\\S]*--source <agent>:<folder>`));
  assertUntouched(repo);
});

test('a folder that is no repository is told so', async (t) => {
  const folder = temporaryFolder(t);
  const { code, stderr } = await playedHere(over(folder, [aSource(t)]));
  assert.equal(code, 1);
  assert.match(stderr, /no Git repository|not a Git repository|repository/i);
  assert.deepEqual(readdirSync(folder), []);
});

test('enabled: false touches no file, whatever else is wrong', async (t) => {
  const repo = aRepository(t, start);
  writeFiles(repo, { '.github/memory.yml': 'enabled: false\n', 'memories/MEMORY.md': 'an edit\n' });
  const before = everyFile(repo);
  const { code, stdout } = await playedHere(over(repo, [{ agent: 'codex', path: '/nowhere' }]));
  assert.equal(code, 0);
  assert.match(stdout, /Nothing to do: enabled is false/);
  assert.deepEqual(everyFile(repo), before);
});

test('a dry run shows the repositories of sessions here before any is included', async (t) => {
  const repo = aRepository(t, start);
  const home = temporaryFolder(t);
  writeFiles(home, { [`sessions/${fileOf(1)}`]: codexText(aFix(1)) });
  const { code, stdout } = await playedHere(['--repo', repo, '--dry-run'], { CODEX_HOME: home });
  assert.equal(code, 0);
  assert.match(stdout, /^Would read 0 of 1 sessions/);
  assert.match(stdout, /Not included: .*include in \.github\/memory\.yml\n.*\ngit\.example\.test\/acme\/app-1 +1$/m);
  assertUntouched(repo);
});

test('with nothing to do it says so and why, and exits with 0', async (t) => {
  const repo = aRepository(t, start);
  const none = await playedHere(['--repo', repo]);
  assert.deepEqual([none.code, none.stderr], [0, '']);
  assert.match(none.stdout, /^Nothing to do: no repository is included\. .*include.*--source/);
  const empty = await playedHere(over(repo, [{ agent: 'codex', path: temporaryFolder(t) }]));
  assert.equal(empty.code, 0);
  assert.match(empty.stdout, /^Nothing to do: the sources hold no session\./);
  const fresh = temporaryFolder(t);
  writeFiles(fresh, { [fileOf(1)]: codexText(aFix(1, [], { at: '2026-12-01T03:00:00Z' })) });
  const busy = await playedHere(['--repo', repo, '--source', `codex:${fresh}`]);
  assert.equal(busy.code, 0);
  assert.match(busy.stdout, /^Nothing to do: /);
  assert.match(busy.stdout, /1 skipped: not idle/);
  assert.equal(tips(repo).branch, git(repo, 'rev-parse', 'HEAD'));
  writeFiles(repo, { '.github/memory.yml': 'include: [git.example.test/acme/app-1]\n' });
  const nobody = await playedHere(['--repo', repo]);
  assert.match(nobody.stdout, /^Nothing to do: no agent has sessions on this machine/);
});

test('edits of the memory that are not committed stop the run before it starts, by name, and stay', async (t) => {
  const repo = aRepository(t, start);
  await playNight(repo, [aSource(t)]);
  const commits = git(repo, 'rev-list', '--count', '--all');
  const cases: readonly (readonly [string, () => void])[] = [
    ['memories/MEMORY.md', () => writeFileSync(join(repo, 'memories/MEMORY.md'), 'edited\n')],
    [
      'memories/MEMORY.md',
      () => {
        writeFileSync(join(repo, 'memories/MEMORY.md'), 'staged\n');
        git(repo, 'add', 'memories/MEMORY.md');
      },
    ],
    ['memories/skills/x/SKILL.md', () => writeFiles(repo, { 'memories/skills/x/SKILL.md': 'new\n' })],
    ['memories/MEMORY.md', () => git(repo, 'rm', '--quiet', '--cached', 'memories/MEMORY.md')],
    ['state.sqlite.json', () => writeFileSync(join(repo, 'state.sqlite.json'), 'x')],
  ];
  for (const [path, edit] of cases) {
    edit();
    const before = everyFile(repo);
    const { code, stdout, stderr } = await playedHere(over(repo, [aSource(t)]));
    assert.equal(code, 1, stdout);
    assert.match(stderr, new RegExp(`Not committed: .*${path}.*stops before it starts[\\s\\S]*git restore`));
    assert.deepEqual(everyFile(repo), before);
    git(repo, 'reset', '--quiet', '--hard');
    git(repo, 'clean', '--quiet', '-fd');
  }
  assert.equal(git(repo, 'rev-list', '--count', '--all'), commits);
});

test('edits beside the memory stay as they are, staged and not', async (t) => {
  const repo = aRepository(t, { ...start, 'src/a.ts': 'a\n' });
  writeFiles(repo, { 'README.md': 'edited\n', 'src/a.ts': 'staged\n', 'src/new.ts': 'new\n' });
  git(repo, 'add', 'src/a.ts');
  assertDone(await playedHere(over(repo, [aSource(t)])));
  assert.equal(git(repo, 'status', '--porcelain').trim(), 'M README.md\nM  src/a.ts\n?? src/new.ts');
  assert.equal(
    git(repo, 'diff', '--name-only', 'HEAD~1', '--', '.', ':!memories', ':!state.sqlite.json'),
    'README.md\nsrc/a.ts',
  );
});

test('a detached HEAD is refused with the way back, and nothing is written', async (t) => {
  const repo = aRepository(t, start);
  git(repo, 'checkout', '--quiet', '--detach');
  const { code, stderr } = await playedHere(over(repo, [aSource(t)]));
  assert.equal(code, 1);
  assert.match(stderr, /HEAD is detached[\s\S]*git switch main/);
  assertUntouched(repo);
});

const situations: readonly (readonly [string, (t: TestContext) => string])[] = [
  ['a branch without a commit', (t) => aRepository(t)],
  [
    'a bare repository',
    (t) => {
      const bare = join(temporaryFolder(t), 'memory.git');
      git(aRepository(t, start), 'clone', '--quiet', '--bare', '.', bare);
      return bare;
    },
  ],
  [
    'a shallow clone',
    (t) => {
      const origin = aRepository(t, start);
      writeFiles(origin, { 'README.md': 'more\n' });
      commitAll(origin, 'More');
      const clone = join(temporaryFolder(t), 'clone');
      git(origin, 'clone', '--quiet', '--depth=1', `file://${origin}`, clone);
      return clone;
    },
  ],
  [
    'a linked worktree',
    (t) => {
      const linked = join(temporaryFolder(t), 'linked');
      git(aRepository(t, start), 'worktree', 'add', '--quiet', '-b', 'nights', linked);
      return linked;
    },
  ],
  [
    'a split index',
    (t) => {
      const repo = aRepository(t, start);
      git(repo, 'update-index', '--split-index');
      return repo;
    },
  ],
  [
    'a sparse checkout without the memory',
    (t) => {
      const repo = aRepository(t, { ...start, 'src/a.ts': 'a\n' });
      git(repo, 'sparse-checkout', 'set', 'src');
      return repo;
    },
  ],
  ['objects named by SHA-256', (t) => aRepository(t, start, ['--object-format=sha256'])],
  ['refs in a table', (t) => aRepository(t, start, ['--ref-format=reftable'])],
];

for (const [what, made] of situations)
  test(`${what}: done and sound, or refused with the reason; the second night is quiet`, async (t) => {
    let repo: string;
    try {
      repo = made(t);
    } catch (error) {
      t.skip(`this git cannot make one: ${String(error).split('\n')[0]}`);
      return;
    }
    const args = over(repo, [aSource(t)]);
    const before = git(repo, 'for-each-ref');
    const first = await playedHere(args);
    if (first.code !== 0) {
      assert.equal(first.code, 1);
      assert.match(first.stderr, /^error: .{20,}\n {2}.{10,}/);
      assert.doesNotMatch(first.stderr, /mistake of ours/);
      assert.equal(git(repo, 'for-each-ref'), before);
      return;
    }
    assert.match(git(repo, 'show', 'HEAD:memories/MEMORY.md'), /app-1/);
    assert.equal(git(repo, 'fsck', '--strict', '--no-dangling'), '');
    if (git(repo, 'rev-parse', '--is-bare-repository') === 'false')
      assert.equal(git(repo, 'status', '--porcelain'), '');
    const refs = git(repo, 'for-each-ref');
    const second = await playedHere(args);
    assert.match(second.stdout, /^Nothing to do: /, second.stderr);
    assert.equal(git(repo, 'for-each-ref'), refs);
  });

test('two nights at once: one is done, the other is told who holds the lock', async (t) => {
  const repo = aRepository(t, start);
  mkdirSync(join(repo, '.git/memory'), { recursive: true });
  const lock = join(repo, '.git/memory/night.lock');
  writeFileSync(
    lock,
    JSON.stringify({ host: 'another-host', pid: 1, started: '2026-12-01T03:00:00Z', note: 'nightly' }),
  );
  const { code, stderr } = await playedHere(over(repo, [aSource(t)]));
  assert.equal(code, 1);
  assert.match(stderr, /night\.lock is held by process 1 on another-host/);
  assert.ok(existsSync(lock));
  assert.equal(tips(repo).state, '');
});

test('a dry run says what it would read and skip, and writes nothing at all', async (t) => {
  const repo = aRepository(t, start);
  const source = aSource(t);
  writeFiles(source.path, { [fileOf(2)]: codexText(aFix(2, [], { at: '2020-01-01T00:00:00Z' })), 'notes.txt': 'x' });
  const before = everyFile(repo);
  const { code, stdout } = await playedHere([
    '--repo',
    repo,
    '--source',
    `codex:${source.path}`,
    '--dry-run',
    '--json',
  ]);
  assert.equal(code, 0);
  const said = JSON.parse(stdout);
  assert.deepEqual(
    said.would_read.map((row: { thread_id: string }) => row.thread_id),
    [uuid(1)],
  );
  assert.deepEqual(said.skipped, { [uuid(2)]: 'too_old' });
  assert.equal(said.usd, 0);
  assert.deepEqual(everyFile(repo), before);
});

test('what a person commits between two nights, and while one works, is built upon', async (t) => {
  const repo = aRepository(t, start);
  await playNight(repo, [aSource(t)]);
  writeFiles(repo, { 'README.md': 'changed by a person\n' });
  commitAll(repo, 'A change');
  const more = aSource(t);
  writeFiles(more.path, { [fileOf(3)]: codexText(aFix(3)) });
  let commits = 0;
  const { report } = await playNight(repo, [more], {
    meanwhile: (stage) => {
      if (!stage.startsWith('phase 2') || commits === 2) return;
      commits += 1;
      writeFiles(repo, { 'README.md': `changed ${commits} times while it works\n` });
      commitAll(repo, 'Another change');
    },
  });
  assert.equal(commits, 2);
  assert.equal(report.outcome, 'done');
  assert.equal(git(repo, 'show', 'HEAD:README.md'), 'changed 2 times while it works');
  assert.equal(git(repo, 'rev-list', '--count', '--first-parent', 'HEAD'), '8');
  assert.equal(git(repo, 'status', '--porcelain'), '');
});

function aSource(t: TestContext) {
  const folder = temporaryFolder(t);
  writeFiles(folder, { [fileOf(1)]: codexText(aFix(1)) });
  return { agent: 'codex' as const, path: folder };
}

function fileOf(n: number): string {
  return `rollout-2026-11-29T10-00-00-${uuid(n)}.jsonl`;
}

function assertDone({ code, stdout, stderr }: Ended): void {
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^Done: /);
}

/** No commit, no state, nothing of ours. */
function assertUntouched(repo: string): void {
  assert.equal(git(repo, 'rev-list', '--count', '--all'), '1');
  assert.equal(tips(repo).state, '');
  assert.ok(!existsSync(join(repo, 'memories')) && !existsSync(join(repo, 'state.sqlite.json')));
}

/** Path → bytes and time of every file, the repository's own too. */
function everyFile(folder: string): Map<string, string> {
  return new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile() && !path.endsWith('/.git/index'))
      .sort()
      .map((path) => [path, `${statSync(path).mtimeMs} ${readFileSync(path, 'latin1')}`]),
  );
}
