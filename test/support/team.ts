import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type BareReader, bareReader } from './bare-read.ts';
import { type CodexSession, codexText } from './codex-session.ts';
import { startForgeServer } from './forge-server.ts';
import type { ForgeServer } from './forge-types.ts';
import { aGitServer, type GitServer } from './git-server.ts';
import { type Ended, playedHere } from './nights.ts';
import { type Ending, git, temporaryFolder, writeFiles } from './repository.ts';

export const botToken = ['ghs', 'team', 'bot', 'token'].join('_');
/** May read, and see pull requests. */
export const readerToken = ['ghs', 'team', 'reader', 'token'].join('_');
const personToken = ['ghp', 'a', 'person'].join('_');
const branchRef = 'refs/heads/memory/nightly';

/** A memory repository on real servers: Git over http, and the host's interface for pull requests. */
export interface TestTeam extends BareReader {
  readonly server: GitServer;
  readonly forge: ForgeServer;
  /** The bare repository on the server. */
  readonly dir: string;
  readonly url: string;
  /** A new clone, as a scheduled job makes one. */
  clone(): string;
  /** Adds a session to the folder that the nights read. */
  session(session: CodexSession): void;
  /** Plays a night in a clone of its own, or in the given one. */
  night(at: string, options?: { readonly clone?: string; readonly args?: readonly string[] }): Promise<Ended>;
  /** What a person does in a clone of theirs, then pushes. */
  person(branch: string, work: (clone: string) => void): void;
  /** Merges the open pull request on the server, in one of the host's ways. */
  merge(way: 'merge' | 'squash' | 'rebase' | 'fast-forward'): void;
  /** Closes the open pull request. */
  shut(label?: string): void;
}

/** @param model what stands as `model` in the configuration. */
export async function aTeamOnServers(t: Ending, config = '', model = '{ provider: builtin }'): Promise<TestTeam> {
  const folder = temporaryFolder(t);
  const server = await aGitServer(t, {
    tokens: { [botToken]: { write: true }, [personToken]: { write: true }, [readerToken]: { write: false } },
  });
  const dir = server.create('acme/memory');
  const { tip, file } = bareReader(dir);
  const forge = await startForgeServer({
    owner: 'acme',
    name: 'memory',
    tokens: {
      [botToken]: { login: 'memory-bot', kind: 'user', pulls: 'write' },
      [readerToken]: { login: 'memory-bot', kind: 'user', pulls: 'read' },
    },
    tipOf: (branch) => tip(`refs/heads/${branch}`),
    isAhead: () => true,
  });
  t.after(() => forge.close());
  const seed = join(folder, 'seed');
  writeFiles(seed, {
    '.github/memory.yml': `version: 1\ninclude: [git.example.test/acme/*]\nmodel: ${model}\ndelivery: { mode: pull-request, api_url: "${forge.githubApi}", token_env: TEAM_TOKEN }\n${config}`,
    'README.md': 'The team’s memory.\n',
  });
  git(seed, 'init', '--quiet', '--initial-branch=main');
  git(seed, 'add', '--all');
  git(seed, 'commit', '--quiet', '--message', 'Start');
  git(seed, 'push', '--quiet', dir, 'main');
  const sessions = join(folder, 'sessions');
  writeFiles(sessions, { 'README.md': 'Sessions of the team.\n' });
  let clones = 0;
  const clone = () => {
    clones += 1;
    const to = join(folder, `clone-${clones}`);
    git(folder, 'clone', '--quiet', '--no-local', '--template=', dir, to);
    git(to, 'remote', 'set-url', 'origin', server.url('acme/memory'));
    return to;
  };
  /** A person's clone, whose way to the server is not looked at. */
  const ownClone = (branch: string) => {
    clones += 1;
    const to = join(folder, `clone-${clones}`);
    git(folder, 'clone', '--quiet', '--template=', '--branch', branch, dir, to);
    return to;
  };
  const openPull = () => {
    const pull = forge.pulls.find(({ state }) => state === 'open');
    if (pull === undefined) throw new Error('no pull request is open');
    return pull;
  };
  const person = (branch: string, work: (to: string) => void) => {
    const to = ownClone(branch);
    work(to);
    git(to, 'add', '--all');
    git(to, 'commit', '--quiet', '--message', 'A person’s work');
    git(to, 'push', '--quiet', dir, `HEAD:${branch}`);
  };
  return {
    server,
    forge,
    dir,
    url: server.url('acme/memory'),
    clone,
    session: (session) => writeFiles(sessions, { [`rollout-${session.id}.jsonl`]: codexText(session) }),
    night: (at, { clone: to = clone(), args = [] } = {}) =>
      playedHere(['--repo', to, '--since', 'all', '--now', '--source', `codex:${sessions}`, ...args], {
        CTM_CLOCK: at,
        TEAM_TOKEN: botToken,
      }),
    person,
    merge: (way) => {
      const pull = openPull();
      const to = ownClone('main');
      git(to, 'branch', '--quiet', '--no-track', 'proposal', `origin/${branchRef.slice('refs/heads/'.length)}`);
      if (way === 'merge') git(to, 'merge', '--quiet', '--no-ff', '--no-edit', 'proposal');
      if (way === 'fast-forward') git(to, 'merge', '--quiet', '--ff-only', 'proposal');
      if (way === 'squash') {
        git(to, 'merge', '--quiet', '--squash', 'proposal');
        git(to, 'commit', '--quiet', '--message', 'Squashed');
      }
      if (way === 'rebase') git(to, 'rebase', '--quiet', '--force-rebase', 'main', 'proposal');
      git(to, 'push', '--quiet', dir, 'HEAD:main');
      forge.merge(pull.number, git(to, 'rev-parse', 'HEAD').trim());
      git(dir, 'update-ref', '-d', branchRef);
    },
    shut: (label) => forge.shut(openPull().number, label),
    file,
    tip,
  };
}

/** Changes a file of a clone. */
export function edit(clone: string, path: string, change: (text: string) => string): void {
  const file = join(clone, path);
  writeFiles(clone, { [path]: change(existsSync(file) ? readFileSync(file, 'utf8') : '') });
}
