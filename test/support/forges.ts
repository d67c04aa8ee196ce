import type { TestContext } from 'node:test';
import type { Draft, Forge, ForgeKind } from '../../scripts/publish/forge.ts';
import { createGitHub } from '../../scripts/publish/github.ts';
import { createGitLab } from '../../scripts/publish/gitlab.ts';
import type { Connection } from '../../scripts/publish/host.ts';
import { startForgeServer } from './forge-server.ts';
import type { ForgeServer, ForgeSettings } from './forge-types.ts';

export const kinds: readonly ForgeKind[] = ['github', 'gitlab'];

/** Looks like none of a provider, so that no scanner takes it for real. */
export const botToken = ['bot', 'token', '5f2c9a71'].join('-');
export const actionsToken = ['actions', 'token', '77c1'].join('-');
export const appToken = ['app', 'token', '31d8'].join('-');
export const personToken = ['person', 'token', '0a44'].join('-');

export interface ServedForge {
  readonly server: ForgeServer;
  readonly forge: Forge;
  /** Seconds that it wanted to wait; nobody waits. */
  readonly waits: number[];
  /** As another process would come back, with nothing in memory. */
  again(options?: Partial<Connection>): Forge;
}

/** A forge over a real local server, both gone when the test ends. */
export async function serveForge(
  t: TestContext,
  kind: ForgeKind,
  settings: Partial<ForgeSettings> = {},
  options: Partial<Connection> = {},
): Promise<ServedForge> {
  const server = await startForgeServer({
    collaborators: ['ada', 'grace', 'crew'],
    tokens: {
      [botToken]: { login: 'memory-bot', kind: 'user' },
      [actionsToken]: { login: 'github-actions[bot]', kind: 'actions' },
      [appToken]: { login: 'memory-app', kind: 'app' },
      [personToken]: { login: 'ada', kind: 'user' },
    },
    ...settings,
  });
  t.after(() => server.close());
  const waits: number[] = [];
  const wait = async (seconds: number) => {
    waits.push(seconds);
  };
  const again = (more: Partial<Connection> = {}) => {
    const connection = { token: botToken, wait, ...options, ...more };
    return kind === 'github'
      ? createGitHub({ apiUrl: server.githubApi, owner: 'acme', repo: 'memory', ...connection })
      : createGitLab({ apiUrl: server.gitlabApi, project: 'acme/memory', ...connection });
  };
  return { server, forge: again(), waits, again };
}

export function aDraft(given: Partial<Draft> = {}): Draft {
  return {
    title: 'Memory: 2 lines learned',
    body: 'Two lines.\n\nNo more.\n',
    headBranch: 'memory/nightly',
    base: 'main',
    labels: ['memory'],
    reviewers: [],
    draft: false,
    ...given,
  };
}

export const aQuery = { number: null, headBranch: 'memory/nightly', base: 'main' };
