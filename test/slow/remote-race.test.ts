import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { aRemote, backends, commitThere, writer } from '../support/remotes.ts';
import { git } from '../support/repository.ts';

const state = 'refs/memory/state';
const pusher = fileURLToPath(new URL('../support/push-ref.ts', import.meta.url));

for (const backend of backends) {
  test(`${backend}: of eight processes that push at once, one wins and no other has moved the ref`, async (t) => {
    const { server, dir } = await aRemote(t, backend);
    server.create('open');
    const url = server.url('open').replace('//', `//x-access-token:${writer}@`);
    const run = promisify(execFile);
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, async (_, at) => {
        const args = ['--import', 'tsx', pusher, dir, backend, url, state, '', `text ${at}`];
        return (await run(process.execPath, args, { env: { ...process.env, NODE_OPTIONS: '' } })).stdout;
      }),
    );
    const winners = outcomes.filter((text) => /^[0-9a-f]{40}$/.test(text));
    assert.equal(winners.length, 1, outcomes.join(' '));
    assert.equal(git(server.dir('open'), 'rev-parse', state), winners[0]);
    assert.ok(outcomes.every((text) => winners.includes(text) || /^(?:PushRejected|GitPush)Error$/.test(text)));
  });

  test(`${backend}: eight fetches at once into one clone all succeed`, async (t) => {
    const { server, remote, repository } = await aRemote(t, backend);
    let tip = commitThere(server, state, '0');
    await remote.fetch([state]);
    for (let at = 1; at <= 3; at += 1) tip = commitThere(server, state, `${at}`, tip);
    const all = await Promise.all(Array.from({ length: 8 }, () => remote.fetch([state])));
    assert.deepEqual(new Set(all.map((held) => held.get(state))), new Set([tip]));
    assert.equal(await repository.readRef('refs/memory/remote/memory/state'), tip);
  });
}
