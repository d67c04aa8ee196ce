import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RemoteError } from '../../scripts/git/remote-errors.ts';
import type { RefUpdate, Remote } from '../../scripts/git/remote-types.ts';
import type { Fault, GitServer } from '../support/git-server.ts';
import { aRemote, backends, commitThere } from '../support/remotes.ts';
import { git } from '../support/repository.ts';

const kinds = ['drop', 'cut'] as const satisfies readonly Fault['kind'][];

/** A run whose n-th request fails: before it is carried out (`drop`), or after (`cut`). It may succeed all the same. */
async function dieAt(
  server: GitServer,
  n: number,
  kind: (typeof kinds)[number],
  work: Promise<unknown>,
): Promise<number> {
  server.fault = (request) => (request.n === n ? { kind } : null);
  await work.catch((error: unknown) => assert.ok(error instanceof RemoteError, String(error)));
  const asked = server.requests.length;
  server.fault = null;
  return asked;
}

for (const backend of backends) {
  test(`${backend}: whichever request of a push dies, before or after it was carried out, the next run finishes`, async (t) => {
    const { server, remote, commit } = await aRemote(t, backend);
    const ref = 'refs/memory/state';
    let expected = await commit('0');
    await remote.push([{ ref, expected: null, next: expected }]);
    for (const kind of kinds) {
      for (let n = 1, asked = 1; n <= asked; n += 1) {
        const update = { ref, expected, next: await commit(`${kind} ${n}`, expected) };
        asked = await dieAt(server, n, kind, remote.push([update]));
        await remote.push([update]);
        expected = update.next;
        assert.equal(git(server.dir('team'), 'rev-parse', ref), expected);
      }
    }
    git(server.dir('team'), 'fsck', '--strict');
  });

  test(`${backend}: whichever request of a fetch dies, the next run finishes`, async (t) => {
    const { server, remote, repository, dir } = await aRemote(t, backend);
    for (const kind of kinds) {
      for (let n = 1, asked = 1; n <= asked; n += 1) {
        const ref = `refs/memory/${kind}-${n}`;
        const theirs = commitThere(server, ref, `${kind} ${n}`.repeat(9999));
        asked = await dieAt(server, n, kind, remote.fetch([ref]));
        assert.deepEqual(await remote.fetch([ref]), new Map([[ref, theirs]]));
        assert.equal((await repository.readFiles(theirs, ['state'])).size, 1);
      }
    }
    git(dir, 'fsck', '--strict');
  });

  test(`${backend}: a push whose answer was lost has succeeded, since the server holds what was pushed`, async (t) => {
    const { server, remote, commit } = await aRemote(t, backend);
    const update: RefUpdate = { ref: 'refs/memory/state', expected: null, next: await commit('x') };
    await lostAnswer(server, remote, update);
    await lostAnswer(server, remote, { ...update, expected: update.next, next: null });
    assert.equal(git(server.dir('team'), 'for-each-ref'), '');
  });
}

async function lostAnswer(server: GitServer, remote: Remote, update: RefUpdate): Promise<void> {
  server.fault = ({ method, url }) => (method === 'POST' && url.endsWith('receive-pack') ? { kind: 'cut' } : null);
  await remote.push([update]);
}
