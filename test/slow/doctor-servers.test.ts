import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseSnapshotText, valuesOf } from '../../scripts/state/snapshot-text.ts';
import { git } from '../support/repository.ts';
import { emptyTree, type Fault, findsEach } from '../support/set-ups.ts';
import { edit, type TestTeam } from '../support/team.ts';

const config = '.github/memory.yml';

/** What git answers to something on its standard input. */
function input(clone: string, args: readonly string[], text: string): string {
  return execFileSync('git', ['-C', clone, ...args], { input: text, encoding: 'utf8' }).trim();
}

/** A lease as its commit says it. */
function lease(clone: string, team: TestTeam, worker: string, until: number): void {
  const record = { worker, token: 'another', run: null, leaseUntil: until };
  const commit = git(clone, 'commit-tree', '-m', JSON.stringify(record), emptyTree);
  git(clone, 'push', '--quiet', '--force', team.dir, `${commit}:refs/memory/lease`);
}

/** Faults that only servers show. */
const faults: readonly Fault[] = [
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
    () => undefined,
    [/^error +remote +/, /^error +forge\.token +There is no token for .*TEAM_TOKEN is not set/],
    { env: { TEAM_TOKEN: '' } },
  ],
  [
    'a token that is refused',
    () => undefined,
    [/^error +remote +/, /^error +forge\.token .*Bad credentials/],
    { env: { TEAM_TOKEN: ['ghs', 'an', 'old', 'one'].join('_') } },
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
    [/^error +remote\.rights .*refused refs\/heads\/memory\/doctor-[0-9a-f]{16}: .*read only/],
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
      /^warning +remote\.refs_not_fetched +This clone does not have refs\/memory\/state\. .* → git fetch origin \+refs\/memory\/state:refs\/memory\/state$/,
      /^warning +schedule\.quiet +No night has left anything yet\. /,
      /^warning +memory\.include /,
    ],
  ],
  [
    'a state that did not grow from the team’s',
    ({ clone }) => {
      // A night that the team does not know.
      const text = git(clone, 'show', 'refs/memory/state:state.sqlite.json');
      const runs = parseSnapshotText(`${text}\n`).tables.find(({ name }) => name === 'runs');
      const run = String(runs?.rows.map(valuesOf)[0]?.[runs.columns.indexOf('run_id')]);
      const own = input(clone, ['hash-object', '-w', '--stdin'], `${text.replaceAll(run, 'f'.repeat(16))}\n`);
      const leaves = git(clone, 'ls-tree', 'refs/memory/state').split('\n');
      const others = leaves.filter((leaf) => !leaf.endsWith('\tstate.sqlite.json'));
      const tree = input(clone, ['mktree'], [...others, `100644 blob ${own}\tstate.sqlite.json`, ''].join('\n'));
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

test('a set-up that is well has no finding, and each fault that servers show is found, alone, with its remedy', (t) =>
  findsEach(t, faults, []));
