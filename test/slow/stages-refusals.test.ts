import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { firstCorrection as first } from '../support/codex-session.ts';
import { git } from '../support/repository.ts';
import { aStagedTeam, type StagedTeam, type TestRun } from '../support/stages.ts';
import { edit } from '../support/team.ts';

const proposal = 'refs/heads/memory/nightly';
const night = '2026-11-22T03:17:00Z';

async function claimed(t: TestContext, config = ''): Promise<{ team: StagedTeam; run: TestRun }> {
  const team = await aStagedTeam(t, config);
  await team.collect(first);
  const run = team.run(night);
  const { code, stderr } = await run.stage('claim');
  assert.equal(code, 0, stderr);
  return { team, run };
}

/** Writes a hand-over in the job's clone. */
function leave(name: string, content: string | ((before: string) => string)) {
  return (clone: string) => {
    const path = join(clone, '.git/memory/night', name);
    mkdirSync(dirname(path), { recursive: true });
    const text = typeof content === 'string' ? content : content(readFileSync(path, 'utf8'));
    rmSync(path, { force: true });
    writeFileSync(path, text);
  };
}

function startedRun(team: StagedTeam) {
  return JSON.parse(team.file('refs/memory/state', 'night.json')).startedRun;
}

/** Nothing was pushed but the books, and the next night may begin. */
function isLetGo(team: StagedTeam): void {
  assert.equal(team.tip(proposal), null);
  assert.equal(team.forge.pulls.length, 0);
  assert.equal(team.tip('refs/memory/lease'), null);
}

test('remember believes the start of its own run alone, whole and plain', async (t) => {
  const { run } = await claimed(t);
  const path = join(run.artifacts, 'night/start.json');
  const start = readFileSync(path);
  const reasons: readonly [RegExp, (clone: string) => void][] = [
    [
      /start\.json of the night cannot be believed: claim left none/,
      (clone) => rmSync(join(clone, '.git/memory/night/start.json')),
    ],
    [/it is no JSON/, leave('start.json', '{"format":1')],
    [/the whole should be an object/, leave('start.json', '[]')],
    [/format should be 1/, leave('start.json', (text) => text.replace('"format":1', '"format":2'))],
    [/tips\.base\.ref should be like/, leave('start.json', (text) => text.replace('refs/heads/main', 'main; rm'))],
    [
      /lease\.ref should be one of/,
      leave('start.json', (text) => text.replace('refs/memory/lease', 'refs/heads/main')),
    ],
    [
      /lease\.oid should be a commit id/,
      leave('start.json', (text) => text.replace(/"oid":"[0-9a-f]{40}"/, '"oid":"HEAD"')),
    ],
    [/it is of run 4000\/1/, leave('start.json', (text) => text.replace('"runId":"4711/1"', '"runId":"4000/1"'))],
    [
      /it is no plain file/,
      (clone) => {
        const path = join(clone, '.git/memory/night/start.json');
        rmSync(path);
        symlinkSync('/etc/passwd', path);
      },
    ],
  ];
  for (const [reason, before] of reasons) {
    const { code, stderr } = await run.stage('remember', { before });
    assert.deepEqual([code, reason.test(stderr)], [1, true], stderr);
    rmSync(path);
    writeFileSync(path, start);
  }
});

for (const [what, reason, before] of [
  ['a result that is no JSON', /night\.json of the night cannot be believed: it is no JSON/, leave('night.json', 'x')],
  [
    'a result of another run',
    /it is of run 9\/9, and this is 4711\/1/,
    leave('night.json', '{"format":1,"outcome":"stopped","run":"9/9"}'),
  ],
  ['a result of a newer kind', /format should be 1/, leave('night.json', '{"format":2}')],
  [
    'a result that names another outcome',
    /outcome should be one of/,
    leave('night.json', '{"format":1,"outcome":"all","run":"4711/1"}'),
  ],
] as const) {
  test(`${what} is refused; the lease goes, and the run counts as lost`, async (t) => {
    const { team, run } = await claimed(t);
    const { code, stderr } = await run.stage('propose', { before });
    assert.equal(code, 1);
    assert.match(stderr, reason);
    isLetGo(team);
    assert.deepEqual(startedRun(team).threads, []);
  });
}

test('a start that cannot be believed lets nothing be pushed, and the lease goes all the same', async (t) => {
  const { team, run } = await claimed(t);
  assert.equal((await run.stage('remember')).code, 0);
  const { code, stderr } = await run.stage('propose', { before: leave('start.json', '{}') });
  assert.equal(code, 1);
  assert.match(stderr, /start\.json of the night cannot be believed/);
  isLetGo(team);
});

test('a bundle with a path that is not ours is refused by its name, whatever the result says', async (t) => {
  const { team, run } = await claimed(t);
  assert.equal((await run.stage('remember')).code, 0);
  const evil = (clone: string) => {
    const folder = join(clone, '.git/memory/night');
    git(clone, 'fetch', '--quiet', team.dir, 'refs/memory/state');
    const heads = git(clone, 'bundle', 'unbundle', join(folder, 'night.bundle')).split('\n');
    const tip = heads.find((head) => head.endsWith('/tip'))?.slice(0, 40) ?? '';
    const state = heads.find((head) => head.endsWith('/state'))?.slice(0, 40) ?? '';
    git(clone, 'read-tree', tip);
    edit(clone, 'evil.yml', () => 'on: push\n');
    git(clone, 'update-index', '--add', 'evil.yml');
    const commit = git(clone, 'commit-tree', git(clone, 'write-tree'), '-p', `${tip}^`, '-m', 'evil');
    git(clone, 'update-ref', 'refs/memory/night/tip', commit);
    git(clone, 'update-ref', 'refs/memory/night/state', state);
    git(
      clone,
      'bundle',
      'create',
      '--quiet',
      join(folder, 'night.bundle'),
      'refs/memory/night/tip',
      'refs/memory/night/state',
    );
    leave('night.json', (text) => text.replaceAll(tip, commit))(clone);
  };
  const { code, stderr } = await run.stage('propose', { before: evil });
  assert.equal(code, 1);
  assert.match(stderr, /night\.bundle of the night cannot be believed: it changes evil\.yml/);
  isLetGo(team);
});

test('heads that are not those of the result, and a bundle that is damaged, are refused', async (t) => {
  const { team, run } = await claimed(t);
  assert.equal((await run.stage('remember')).code, 0);
  const { code, stderr } = await run.stage('propose', { before: leave('night.bundle', '# v2 git bundle\n\nPACK') });
  assert.equal(code, 1);
  assert.match(stderr, /night\.bundle of the night cannot be believed/);
  isLetGo(team);
});

test('a key that is refused stops the night: nothing is counted, and the next night goes on', async (t) => {
  const models = 'extract_model: a, consolidation_model: b';
  const { team, run } = await claimed(t, `budget: { minutes: 30 }\n`);
  const noKey = (clone: string) =>
    edit(clone, '.github/memory.yml', (text) => text.replace('provider: builtin', `provider: openai, ${models}`));
  const remembered = await run.stage('remember', { before: noKey });
  assert.equal(remembered.code, 4, remembered.stderr);
  const proposed = await run.stage('propose');
  assert.equal(proposed.code, 0, proposed.stderr);
  assert.match(proposed.stdout, /The night was stopped/);
  isLetGo(team);
  const next = team.run('2026-11-23T03:17:00Z');
  assert.match((await next.stage('claim')).stdout, /1 sessions to read/);
});

test('without its lease a night ends unpaid, and nothing of it can be pushed', async (t) => {
  const { team, run } = await claimed(t);
  git(team.dir, 'update-ref', '-d', 'refs/memory/lease');
  const remembered = await run.stage('remember');
  assert.equal(remembered.code, 0);
  assert.match(remembered.stdout, /the lease moved after the claim/);
  const proposed = await run.stage('propose');
  assert.equal(proposed.code, 1);
  assert.match(proposed.stderr, /The lease was lost/);
});

test('a lease that is too short for the job to come is as if it were lost', async (t) => {
  const { run } = await claimed(t);
  const { stdout } = await run.stage('remember', { at: '2026-11-22T04:47:01Z' });
  assert.match(stdout, /the lease moved after the claim/);
});

for (const [when, requests] of [
  ['before the first session is read', 1],
  ['before a repository’s memory is written', 2],
] as const) {
  test(`a lease that goes ${when} stops the night there; what was paid stays in the journal`, async (t) => {
    const { team, run } = await claimed(t);
    let [journal, asked] = ['', 0];
    team.server.fault = ({ url }) => {
      if (journal === '' || !existsSync(journal) || !url.includes('/info/refs')) return null;
      asked += 1;
      if (asked === requests) git(team.dir, 'update-ref', '-d', 'refs/memory/lease');
      return null;
    };
    const { code, stderr } = await run.stage('remember', {
      before: (clone) => {
        journal = join(clone, '.git/memory/journal');
        rmSync(journal, { recursive: true, force: true });
      },
    });
    assert.equal(code, 1);
    assert.match(stderr, /The lease was lost/);
    assert.equal(asked, requests);
    assert.equal(JSON.parse(readFileSync(join(run.artifacts, 'night/night.json'), 'utf8')).outcome, 'stopped');
  });
}
