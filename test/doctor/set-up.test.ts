import assert from 'node:assert/strict';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { doctorCommand, doctorSpec } from '../../scripts/doctor/command.ts';
import { findRepository } from '../../scripts/git/layout.ts';
import { gitProgram } from '../../scripts/git/program.ts';
import { driverCommand, install } from '../../scripts/merge-driver/setting.ts';
import { aFix } from '../support/codex-session.ts';
import { type Ended, ranHere, root } from '../support/nights.ts';
import { commitAll, env, git, temporaryFolder, writeFiles } from '../support/repository.ts';
import { aTeamOnServers, botToken, edit, type TestTeam } from '../support/team.ts';

const today = '2026-12-01T03:17:00Z';
const driver = driverCommand({ script: '/opt/memory/scripts/merge-driver.ts', loader: 'file:///opt/tsx' });
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

interface Asked {
  readonly at?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

type Plant = (place: { readonly clone: string; readonly team: TestTeam }) => Asked | undefined | void | Promise<void>;

function doctor(clone: string, { at = today, args = [], env: more = {} }: Asked = {}): Promise<Ended> {
  const all = { CTM_CLOCK: at, TEAM_TOKEN: botToken, ...more };
  return ranHere(doctorSpec, (world) => doctorCommand(world, driver), ['--repo', clone, ...args], all);
}

/** A team with one night behind it, and a clone in which nothing is wrong. */
async function aTeamThatIsWell(t: TestContext): Promise<{ team: TestTeam; well: string }> {
  const team = await aTeamOnServers(t);
  team.person('main', (to) => {
    cpSync(join(root, '.gitattributes'), join(to, '.gitattributes'));
    cpSync(join(root, '.github/workflows/nightly.yml'), join(to, '.github/workflows/nightly.yml'));
  });
  team.session(aFix(1));
  const well = team.clone();
  const night = await team.night('2026-11-30T03:17:00Z', { clone: well });
  assert.equal(night.code, 0, night.stderr);
  await install(gitProgram(await findRepository(well), env), driver);
  return { team, well };
}

const config = '.github/memory.yml';

/** A lease as its commit says it. */
function lease(clone: string, team: TestTeam, worker: string, until: number): void {
  const record = { worker, token: 'another', run: null, leaseUntil: until };
  const commit = git(clone, 'commit-tree', '-m', JSON.stringify(record), emptyTree);
  git(clone, 'push', '--quiet', '--force', team.dir, `${commit}:refs/memory/lease`);
}

const daysLater = (days: number) => new Date(Date.parse(today) + days * 86_400_000).toISOString();

type Fault = readonly [name: string, plant: Plant, lines: readonly RegExp[]];

/** Faults of the clone and of what it holds, each with every line that the doctor says of it; no server is asked. */
const faultsHere: readonly Fault[] = [
  [
    'a clone that does not merge the published copy',
    ({ clone }) => {
      git(clone, 'config', '--remove-section', 'merge.memory-state');
    },
    [/^warning +clone\.merge_driver +This clone has no driver\. .* → npm run merge-driver -- install$/],
  ],
  [
    'merge attributes without a line for it',
    ({ clone }) => edit(clone, '.gitattributes', (text) => text.replaceAll('merge=memory-state', '')),
    [/^warning +clone\.merge_driver +\.gitattributes does not give state\.sqlite\.json to the driver/],
  ],
  [
    'a shallow clone',
    ({ clone }) => {
      writeFileSync(join(clone, '.git/shallow'), `${git(clone, 'rev-parse', 'HEAD')}\n`);
    },
    [/^warning +clone\.shallow +This clone is shallow\. .* → git fetch --unshallow/],
  ],
  [
    'a checkout with CRLF',
    ({ clone, team }) => {
      git(clone, 'fetch', '--quiet', team.dir, 'memory/nightly');
      git(clone, 'reset', '--quiet', '--hard', 'FETCH_HEAD');
      edit(clone, 'memories/MEMORY.md', (text) => text.replaceAll('\n', '\r\n'));
    },
    [
      /^warning +clone\.crlf +1 files of the memory are checked out with CRLF, such as memories\/MEMORY\.md\. .* → .*text=auto eol=lf/,
    ],
  ],
  [
    'mistakes in the configuration',
    ({ clone }) => edit(clone, config, (text) => `${text}budget: { minutes: 0 }\ncolour: red\n`),
    [
      /^error +settings +\.github\/memory\.yml, line \d+: budget\.minutes /,
      /^error +settings +.*line \d+: colour is no key/,
    ],
  ],
  [
    'a configuration that is switched off and delivers nowhere',
    ({ clone }) => edit(clone, config, (text) => `${text.replace('model: { provider: builtin }', '')}enabled: false\n`),
    [/^error +settings\.delivery .* → Write model: \{ provider: builtin \}/, /^warning +settings\.enabled /],
  ],
  [
    'includes that are empty, or match nothing',
    ({ clone }) => edit(clone, config, (text) => text.replace('acme/*]', 'acme/app-1, git.example.test/acne/*]')),
    [/^warning +memory\.include +include names git\.example\.test\/acne\/\*, .* → .*npm run status/],
  ],
  [
    'nothing included',
    ({ clone }) => edit(clone, config, (text) => text.replace('[git.example.test/acme/*]', '[]')),
    [/^error +settings\.include +No repository is included\. /],
  ],
  [
    'a lock without a word',
    ({ clone }) => writeFiles(clone, { '.git/memory/night.lock': '' }),
    [/^error +lock\.dead .* does not say who holds it\. .* → rm '.*night\.lock'$/],
  ],
  [
    'a lock of another machine, long ago',
    ({ clone }) =>
      writeFiles(clone, {
        '.git/memory/night.lock': '{"host":"gone","pid":7,"started":"2026-11-20T03:17:00Z","note":"nightly"}\n',
      }),
    [/^error +lock\.dead +The night’s lock is held by process 7 on gone .*longer than any night\. .* → rm '/],
  ],
  [
    'a schedule that does not run',
    () => ({ at: daysLater(5) }),
    [
      /^warning +schedule\.quiet +The last night that left anything was 6 days ago\. .* → gh run list --workflow nightly\.yml/,
    ],
  ],
  [
    'a summary that no agent reads',
    () => ({ at: daysLater(7) }),
    [
      /^warning +schedule\.quiet /,
      /^warning +memory\.no_reader +No agent has cited the memory in 30 days\. .* → .*memories\/memory_summary\.md/,
    ],
  ],
  [
    'a summary that is nearly full',
    ({ clone }) => {
      writeFiles(clone, { 'memories/memory_summary.md': `v1\n${'A long line. '.repeat(400)}\n` });
      commitAll(clone, 'A long summary');
    },
    [/^warning +memory\.summary_budget +memories\/memory_summary\.md has 5204 of 5500 characters\. /],
  ],
  [
    'a summary over its budget',
    ({ clone }) => {
      writeFiles(clone, { 'memories/memory_summary.md': `v1\n${'A long line. '.repeat(500)}\n` });
      commitAll(clone, 'A longer summary');
    },
    [/^error +memory\.summary_budget /],
  ],
  [
    'a state that is damaged',
    ({ clone }) => {
      const broken = git(clone, 'commit-tree', '-p', 'refs/memory/state', '-m', 'broken', emptyTree);
      git(clone, 'update-ref', 'refs/memory/state', broken);
    },
    [/^error +state +The state's commit holds no state\.sqlite\.json/],
  ],
];

/** Faults that only servers show. */
const faultsThere: readonly Fault[] = [
  ['nothing', () => undefined, []],
  [
    'a remote that is not there',
    ({ clone }) => {
      git(clone, 'remote', 'remove', 'origin');
    },
    [/^error +remote\.missing .* → git remote add origin <url>/],
  ],
  [
    'a remote that does not answer',
    ({ clone }) => {
      git(clone, 'remote', 'set-url', 'origin', 'http://127.0.0.1:9/acme/memory.git');
    },
    [/^error +remote +.*127\.0\.0\.1:9/],
  ],
  [
    'a repository that is not on the remote',
    ({ clone, team }) => {
      git(clone, 'remote', 'set-url', 'origin', team.server.url('acme/other'));
    },
    [/^error +forge\.token /, /^error +remote +/],
  ],
  [
    'a token that is not set',
    () => ({ env: { TEAM_TOKEN: '' } }),
    [/^error +remote +/, /^error +forge\.token +There is no token for .*TEAM_TOKEN is not set/],
  ],
  [
    'a token that is refused',
    () => ({ env: { TEAM_TOKEN: ['ghs', 'an', 'old', 'one'].join('_') } }),
    [/^error +remote +/, /^error +forge\.token .*Bad credentials/],
  ],
  [
    'a remote that refuses refs below refs/memory/',
    ({ team }) => team.server.refuse('acme/memory', 'refs/memory/*', 'only branches here'),
    [
      /^error +remote\.rights .*only branches here.* Branches may be pushed, so the lease would be refs\/heads\/memory\/lease\. .* → Allow this token/,
    ],
  ],
  [
    'a remote that refuses every push',
    ({ team }) => team.server.refuse('acme/memory', '*', 'read only'),
    [/^error +remote\.rights .*refused refs\/heads\/memory\/doctor-one: .*read only/],
  ],
  [
    'a base that is not the default branch, or not there',
    ({ clone }) => edit(clone, config, (text) => text.replace('mode: pull-request', 'mode: pull-request, base: work')),
    [/^error +remote\.default_branch .* has no branch work, which delivery\.base names\. /],
  ],
  [
    'another branch as base',
    ({ clone }) =>
      edit(clone, config, (text) => text.replace('mode: pull-request', 'mode: pull-request, base: memory/nightly')),
    [/^warning +remote\.default_branch +delivery\.base is memory\/nightly, and the default branch is main\. /],
  ],
  [
    'refs that were not fetched',
    ({ clone }) => {
      git(clone, 'update-ref', '-d', 'refs/memory/state');
      rmSync(join(clone, '.git/memory/journal'), { recursive: true, force: true });
    },
    [
      /^warning +remote\.refs_not_fetched +This clone does not have refs\/memory\/state\. .* → git fetch origin refs\/memory\/state:refs\/memory\/state$/,
      /^warning +schedule\.quiet +No night has left anything yet\. /,
      /^warning +memory\.include /,
    ],
  ],
  [
    'a state that did not grow from the team’s',
    ({ clone }) => {
      const tree = git(clone, 'rev-parse', 'refs/memory/state^{tree}');
      git(clone, 'update-ref', 'refs/memory/state', git(clone, 'commit-tree', '-m', 'own', tree));
    },
    [/^error +remote\.foreign_state .* → npm run doctor -- --adopt remote/],
  ],
  [
    'an archived repository',
    ({ team }) => {
      team.forge.settings.isArchived = true;
    },
    [/^error +forge\.archived +acme\/memory is archived\. /],
  ],
  [
    'a repository that takes no pull requests of this token',
    ({ team }) => {
      team.forge.settings.takesPulls = false;
    },
    [
      /^error +forge\.rights +This token may not open pull requests in acme\/memory\. .* → Give it contents and pull requests/,
    ],
  ],
  [
    'a host that is not known',
    ({ clone }) => edit(clone, config, (text) => text.replace(/api_url: "[^"]*", /, '')),
    [/^warning +forge\.unknown .* → Set delivery\.api_url/],
  ],
  [
    'a lease that nobody alive holds',
    ({ clone, team }) => lease(clone, team, 'Actions run 7/1', 1_790_000_000),
    [
      /^warning +lease\.dead +Actions run 7\/1 still holds the lease, which ended 2026-09-21T.* → npm run nightly .*git push origin :refs\/memory\/lease$/,
    ],
  ],
  [
    'a schedule of a public repository that is about to pause',
    ({ team }) => {
      team.forge.settings.visibility = 'public';
    },
    [
      /^warning +schedule\.pause +The default branch has had no commit for \d+ days\. .* → .*gh workflow enable nightly\.yml/,
    ],
  ],
];

test('a set-up that is well has no finding, and each fault that is planted is found, alone, with its remedy', async (t) => {
  const { team, well } = await aTeamThatIsWell(t);
  const folder = temporaryFolder(t);
  const { isArchived, visibility, takesPulls } = team.forge.settings;
  const asked = [
    ...faultsHere.map((fault) => ({ fault, args: ['--offline'] })),
    ...faultsThere.map((fault) => ({ fault, args: [] })),
  ];
  for (const [index, { fault, args }] of asked.entries()) {
    const [name, plant, expected] = fault;
    await t.test(name, async () => {
      const clone = join(folder, String(index));
      cpSync(well, clone, { recursive: true });
      const { code, stdout } = await doctor(clone, { args, ...(await plant({ clone, team })) });
      const lines = stdout.startsWith('Nothing is wrong') ? [] : stdout.trimEnd().split('\n');
      assert.equal(lines.length, expected.length, stdout);
      for (const pattern of expected)
        assert.ok(
          lines.some((line) => pattern.test(line)),
          `${pattern}\n${stdout}`,
        );
      assert.equal(code, lines.some((line) => line.startsWith('error')) ? 1 : 0);
      for (const line of lines) assert.match(line, / → \S/);
      assert.ok(!stdout.includes(botToken));
      Object.assign(team.forge.settings, { isArchived, visibility, takesPulls });
      team.server.refuse('acme/memory', '', '');
      git(team.dir, 'update-ref', '-d', 'refs/memory/lease');
      assert.equal(git(team.dir, 'for-each-ref', '--format=%(refname)', '**/doctor-*', 'refs/memory/doctor-*'), '');
    });
  }
});
