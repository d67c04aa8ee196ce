import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { collect } from '../../scripts/collect/run.ts';
import { scan } from '../../scripts/collect/scan.ts';
import type { SeenByPath } from '../../scripts/collect/seen.ts';
import { checkoutsFrom } from '../../scripts/rollout/checkouts.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { aFix, uuid } from '../support/codex-session.ts';
import { aGitServer } from '../support/git-server.ts';
import { aLaptop, app, appUrl, aTeam, threadsIn } from '../support/laptops.ts';
import { git } from '../support/repository.ts';

test('what the server refuses is said with its words, and sent when it no longer does', async (t) => {
  const server = await aGitServer(t, { tokens: {}, anonymous: 'write' });
  const team = server.create('team');
  git(team, 'fetch', '--quiet', aTeam(t), '+refs/heads/*:refs/heads/*');
  const laptop = aLaptop(t, server.url('team'), team);
  laptop.codex(aFix(1, [], { remote: appUrl }));
  server.refuse('team', 'refs/memory/*', 'only the nightly job writes here');
  const refused = await laptop.collect();
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /only the nightly job writes here/);
  server.refuse('team', '', '');
  server.fault = () => ({ kind: 'status', status: 503 });
  assert.equal((await laptop.collect()).code, 1);
  server.fault = null;
  assert.equal((await laptop.collect()).stdout, 'Sent 1 session.\n');
  assert.deepEqual(threadsIn(team), [uuid(1)]);
});

test('where nothing changed the remote is not even asked', async (t) => {
  const server = await aGitServer(t, { tokens: {}, anonymous: 'write' });
  const team = server.create('team');
  git(team, 'fetch', '--quiet', aTeam(t), '+refs/heads/*:refs/heads/*');
  const laptop = aLaptop(t, server.url('team'), team);
  laptop.codex(aFix(1, [], { remote: appUrl }));
  await laptop.collect();
  server.fault = () => ({ kind: 'drop' });
  assert.equal((await laptop.collect()).code, 0);
  assert.equal(server.requests.length, 0);
});

test('a run that died after a part goes on with the rest', async (t) => {
  const laptop = aLaptop(t, aTeam(t));
  for (let n = 1; n <= 201; n += 1) laptop.codex({ id: uuid(n), remote: appUrl, events: [{ human: `Task ${n}.` }] });
  const transcripts = await scan([{ agent: 'codex', path: join(laptop.home, '.codex/sessions') }]);
  const policy = {
    include: [app],
    exclude: [],
    excludeOrigins: [],
    consented: [app],
    isOptedOut: () => false,
    notBefore: 0,
  };
  const sent: string[][] = [];
  let kept: SeenByPath = new Map();
  const ports = (mayFail: boolean) => ({
    checkouts: checkoutsFrom({}),
    home: laptop.home,
    redactor: createRedactor({}),
    author: 'dana',
    progress: () => undefined,
    send: (rollouts: readonly { readonly thread: { readonly id: string } }[]) => {
      if (mayFail && sent.length === 1) return Promise.reject(new Error('killed'));
      sent.push(rollouts.map(({ thread }) => thread.id));
      return Promise.resolve(new Map());
    },
    settled: (seen: SeenByPath) => {
      kept = seen;
      return Promise.resolve();
    },
  });
  await assert.rejects(collect(transcripts, kept, policy, ports(true)), /killed/);
  const report = await collect(transcripts, kept, policy, ports(false));
  assert.equal(report.unchanged, 200);
  assert.deepEqual(
    sent.map((part) => part.length),
    [200, 1],
  );
  assert.equal(new Set(sent.flat()).size, 201);
});
