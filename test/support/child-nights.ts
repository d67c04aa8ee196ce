import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type ApiServer, startApiServer } from './api-server.ts';
import type { RecordedRequest } from './api-types.ts';
import type { BatchApi } from './batch-api.ts';
import { type Behave, configFor, sound } from './model-nights.ts';
import { type Ended, type Running, startNightly } from './nights.ts';
import { aRepository, git, temporaryFolder } from './repository.ts';
import { type WrittenSession, writeSessions } from './written-sessions.ts';

/** Nights as processes of their own, with `.github/memory.yml` and repositories on disk. */
export interface ChildNights {
  readonly dir: string;
  /** Folders of two repositories, for sessions' `cwd`. */
  readonly shop: string;
  readonly api: string;
  readonly server: ApiServer;
  write(...sessions: readonly WrittenSession[]): void;
  /** What the model does from now on. */
  use(behave: Behave): void;
  /** @param behave of the model from now on. */
  start(behave?: Behave, env?: Readonly<Record<string, string>>): Running;
  run(behave?: Behave, env?: Readonly<Record<string, string>>): Promise<Ended>;
  /** Branch and state as `git for-each-ref` shows them. */
  refs(): string;
}

/**
 * @param config lines after the common ones: first more of `model`.
 * @param batches the server's Batch API; without it there is none.
 */
export async function startChildNights(
  t: TestContext,
  config = '',
  baseUrl?: string,
  batches?: BatchApi,
): Promise<ChildNights> {
  const folder = temporaryFolder(t);
  let behave: Behave = sound;
  const server = await startApiServer({
    behave: (request: RecordedRequest, index: number) => behave(request, index),
    ...(batches === undefined ? {} : { batches }),
  });
  t.after(() => server.close());
  const sessions = join(folder, 'sessions');
  const include = `include: [git.example.test/acme/*]\nsources: [{agent: codex, path: ${sessions}}]\n`;
  const text = `${configFor(baseUrl ?? server.baseUrl)}${config}${include}`;
  const dir = aRepository(t, { 'README.md': 'Memory.\n', '.github/memory.yml': text });
  const checkout = (name: string) => {
    const root = join(folder, name);
    git(folder, 'init', '--quiet', root);
    git(root, 'remote', 'add', 'origin', `https://git.example.test/acme/${name}.git`);
    return root;
  };
  const start: ChildNights['start'] = (next = sound, env = {}) => {
    behave = next;
    return startNightly(['--repo', dir], { env: { CTM_CLOCK: '2026-11-30T03:00:00Z', ...env } });
  };
  return {
    dir,
    shop: checkout('shop'),
    api: checkout('api'),
    server,
    write: (...written) => writeSessions(sessions, written),
    use: (next) => {
      behave = next;
    },
    start,
    run: (next, env) => start(next, env).ended,
    refs: () => git(dir, 'for-each-ref', '--format=%(refname) %(objectname)'),
  };
}
