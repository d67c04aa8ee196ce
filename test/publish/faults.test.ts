import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Forge } from '../../scripts/publish/forge.ts';
import type { Fault } from '../support/forge-types.ts';
import { actionsToken, aDraft, aQuery, botToken, kinds, serveForge } from '../support/forges.ts';

const draft = aDraft({ reviewers: ['ada', 'grace'], labels: ['memory', 'nightly'] });

/** What a night does at the end, not knowing what an earlier one reached. */
async function publish(forge: Forge, words = draft): Promise<number> {
  const { open } = await forge.find(aQuery);
  const { pullRequest } =
    open === null ? await forge.open(words) : await forge.open({ ...words, headBranch: open.headBranch });
  return pullRequest.number;
}

/** Breaks every try of the request with this index, so that the process gives up there. */
function breakFor(faults: Map<number, Fault>, index: number, fault: Fault): void {
  for (let at = index; at < index + 4; at += 1) faults.set(at, fault);
}

for (const kind of kinds) {
  const token = kind === 'github' ? actionsToken : botToken;
  for (const drop of ['before', 'after'] as const) {
    test(`${kind}: the network dies ${drop} any request takes effect: a rerun finishes, with one pull request`, async (t) => {
      const whole = await serveForge(t, kind, {}, { token });
      await publish(whole.forge);
      const count = whole.server.requests.length;
      const wanted = whole.server.pulls;
      assert.ok(count >= 5);
      for (let index = 0; index < count; index += 1) {
        const { server, forge, again } = await serveForge(t, kind, {}, { token });
        breakFor(server.faults, index, { drop });
        await assert.rejects(publish(forge), { kind: 'network' }, `request ${index}`);
        server.faults.clear();
        assert.equal(await publish(again()), 1);
        assert.deepEqual(server.pulls, wanted, `request ${index}`);
      }
    });

    test(`${kind}: a single drop ${drop} the effect is not even noticed`, async (t) => {
      for (let index = 0; index < 7; index += 1) {
        const { server, forge, waits } = await serveForge(t, kind, {}, { token });
        server.faults.set(index, { drop });
        assert.equal(await publish(forge), 1);
        assert.equal(server.pulls.length, 1);
        assert.deepEqual(server.pulls[0]?.reviewers, ['ada', 'grace']);
        assert.ok(waits.length >= 1);
      }
    });
  }

  test(`${kind}: a refresh that died at any request is finished by the next`, async (t) => {
    const words = aDraft({ title: 'Other', body: 'Other.', labels: ['memory', 'late'] });
    for (const drop of ['before', 'after'] as const) {
      for (let index = 0; index < 3; index += 1) {
        const { server, forge, again } = await serveForge(t, kind);
        await forge.open(aDraft());
        breakFor(server.faults, server.requests.length + index, { drop });
        await assert.rejects(forge.refresh(1, words), { kind: 'network' });
        server.faults.clear();
        await again().refresh(1, words);
        const { title, body, labels } = server.pulls[0] ?? assert.fail();
        assert.deepEqual([title, body, labels], ['Other', 'Other.', ['memory', 'late']]);
      }
    }
  });

  test(`${kind}: a gateway's error page after the effect leads to no second one`, async (t) => {
    const { server, forge } = await serveForge(t, kind);
    const create = kind === 'github' ? 2 : 1;
    server.faults.set(create, { status: 502, body: '<html>Bad gateway</html>', applies: true });
    assert.equal(await publish(forge), 1);
    assert.equal(server.pulls.length, 1);
    assert.equal(server.requests[create]?.method, 'POST');
  });
}

test('github: a list that lags behind the creation is asked again', async (t) => {
  const { server, forge, waits } = await serveForge(t, 'github');
  server.faults.set(0, { drop: 'after' });
  server.faults.set(3, { status: 200, body: [] });
  const { pullRequest } = await forge.open(aDraft());
  assert.equal(pullRequest.number, 1);
  assert.equal(server.pulls.length, 1);
  assert.equal(waits.at(-1), 1);
});
