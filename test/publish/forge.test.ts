import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyHash } from '../../scripts/publish/forge.ts';
import { actionsToken, aDraft, appToken, aQuery, kinds, personToken, serveForge } from '../support/forges.ts';

const merged = 'b'.repeat(40);

for (const kind of kinds) {
  test(`${kind}: what was opened is found again by its number, with all a night asks of it`, async (t) => {
    const { forge, server } = await serveForge(t, kind);
    const { pullRequest, warnings } = await forge.open(aDraft());
    assert.deepEqual(warnings, []);
    const found = await forge.find({ ...aQuery, number: pullRequest.number });
    assert.deepEqual(found.open, found.recorded);
    const { url, ...facts } = found.open ?? assert.fail();
    assert.ok(url.startsWith(`${server.url}/acme/memory/`));
    assert.deepEqual(facts, {
      number: 1,
      state: 'open',
      mergeOid: null,
      title: 'Memory: 2 lines learned',
      bodyHash: bodyHash('Two lines.\n\nNo more.\n'),
      labels: ['memory'],
      draft: false,
      headOid: '1'.repeat(40),
      headBranch: 'memory/nightly',
      isFromHere: true,
      base: 'main',
      author: 'memory-bot',
    });
  });

  test(`${kind}: an open one that nobody recorded is found by repository, branch and author`, async (t) => {
    const { forge, again } = await serveForge(t, kind);
    await forge.open(aDraft());
    const found = await again().find(aQuery);
    assert.equal(found.recorded, null);
    assert.equal(found.open?.number, 1);
  });

  test(`${kind}: a branch's name alone makes nothing ours: not a fork's, not a person's, not another branch's`, async (t) => {
    const { forge, server } = await serveForge(t, kind);
    server.add({ author: 'memory-bot', head: 'memory/nightly', headRepository: 900 });
    server.add({ author: 'ada', head: 'memory/nightly' });
    server.add({ author: 'memory-bot', head: 'memory/nightly-2' });
    server.add({ author: 'memory-bot', head: 'memory/nightly', headRepository: 0 });
    assert.deepEqual(await forge.find(aQuery), { recorded: null, open: null });
  });

  test(`${kind}: a recorded number that names another branch or a fork's is nobody's`, async (t) => {
    const { forge, server } = await serveForge(t, kind);
    server.add({ author: 'memory-bot', head: 'feature' });
    server.add({ author: 'memory-bot', head: 'memory/nightly', headRepository: 900 });
    for (const number of [1, 2, 99])
      assert.deepEqual(await forge.find({ ...aQuery, number }), { recorded: null, open: null });
  });

  test(`${kind}: what was recorded stays ours when the token's owner changes`, async (t) => {
    const { forge, again } = await serveForge(t, kind);
    await forge.open(aDraft());
    const other = again({ token: personToken });
    assert.equal((await other.find({ ...aQuery, number: 1 })).open?.number, 1);
    assert.equal((await other.find(aQuery)).open, null);
  });

  test(`${kind}: merged, closed and reopened are told apart, with the labels and the commit on the base`, async (t) => {
    const { forge, server } = await serveForge(t, kind);
    await forge.open(aDraft());
    server.shut(1, 'memory:reject');
    const closed = await forge.find({ ...aQuery, number: 1 });
    assert.equal(closed.recorded?.state, 'closed');
    assert.equal(closed.recorded?.mergeOid, null);
    assert.deepEqual(closed.recorded?.labels, ['memory', 'memory:reject']);
    assert.equal(closed.open, null);
    server.reopen(1);
    assert.equal((await forge.find({ ...aQuery, number: 1 })).open?.state, 'open');
    server.merge(1, merged);
    const { recorded, open } = await forge.find({ ...aQuery, number: 1 });
    assert.equal(recorded?.state, 'merged');
    assert.equal(recorded?.mergeOid, merged);
    assert.equal(open, null);
  });

  test(`${kind}: after a closed one the next open one is found beside it`, async (t) => {
    const { forge, server } = await serveForge(t, kind);
    await forge.open(aDraft());
    server.shut(1);
    await forge.open(aDraft());
    const found = await forge.find({ ...aQuery, number: 1 });
    assert.equal(found.recorded?.number, 1);
    assert.equal(found.open?.number, 2);
  });

  test(`${kind}: of several that are ours the one to the wanted base is taken`, async (t) => {
    const { forge, server } = await serveForge(t, kind);
    server.add({ author: 'memory-bot', head: 'memory/nightly', base: 'old' });
    server.add({ author: 'Memory-Bot', head: 'memory/nightly', base: 'main' });
    assert.equal((await forge.find(aQuery)).open?.number, 2);
  });

  test(`${kind}: the one that is ours is found behind a hundred of others`, async (t) => {
    const { forge, server } = await serveForge(t, kind, { pageSize: 20 });
    for (let number = 1; number <= 100; number += 1) server.add({ author: 'ada', head: 'memory/nightly' });
    server.add({ author: 'memory-bot', head: 'memory/nightly' });
    assert.equal((await forge.find(aQuery)).open?.number, 101);
  });

  test(`${kind}: a refresh writes what differs and nothing where nothing does`, async (t) => {
    const { forge, server } = await serveForge(t, kind);
    await forge.open(aDraft());
    const before = server.requests.length;
    assert.equal((await forge.refresh(1, aDraft())).changed, false);
    assert.deepEqual(
      server.requests.slice(before).map(({ method }) => method),
      ['GET'],
    );
    const outcome = await forge.refresh(
      1,
      aDraft({ title: 'Memory: 3 lines learned', base: 'trunk', labels: ['Memory', 'new'] }),
    );
    assert.equal(outcome.changed, true);
    assert.equal(server.pulls[0]?.title, 'Memory: 3 lines learned');
    assert.equal(server.pulls[0]?.base, 'trunk');
    assert.deepEqual(server.pulls[0]?.labels, ['memory', 'new']);
    assert.equal(
      server.requests.some(({ method, body }) => /PATCH|PUT/.test(method) && body.includes('No more')),
      false,
    );
  });

  test(`${kind}: a refresh leaves one that was closed meanwhile alone, and says which`, async (t) => {
    const { forge, server } = await serveForge(t, kind);
    await forge.open(aDraft());
    server.shut(1);
    const outcome = await forge.refresh(1, aDraft({ title: 'Other' }));
    assert.deepEqual([outcome.changed, outcome.pullRequest.state], [false, 'closed']);
    assert.equal(server.pulls[0]?.title, 'Memory: 2 lines learned');
    await assert.rejects(forge.refresh(7, aDraft()), { kind: 'not_found' });
  });

  test(`${kind}: opening again completes the one that is open: its words, labels and reviewers`, async (t) => {
    const { forge, server, again } = await serveForge(t, kind);
    await forge.open(aDraft({ labels: [] }));
    const outcome = await again().open(aDraft({ title: 'Memory: 5 lines learned', reviewers: ['ada'] }));
    assert.equal(outcome.pullRequest.number, 1);
    assert.equal(server.pulls.length, 1);
    assert.equal(server.pulls[0]?.title, 'Memory: 5 lines learned');
    assert.deepEqual(server.pulls[0]?.labels, ['memory']);
    assert.deepEqual(server.pulls[0]?.reviewers, ['ada']);
  });

  test(`${kind}: a person's pull request from our branch is left as it is, and named`, async (t) => {
    const { forge, server } = await serveForge(t, kind);
    server.add({ author: 'ada', head: 'memory/nightly', title: 'Mine' });
    await assert.rejects(forge.open(aDraft()), (error: Error & { kind?: string }) => {
      assert.equal(error.kind, 'taken');
      assert.match(error.message, /1, opened by ada/);
      return true;
    });
    assert.equal(server.pulls[0]?.title, 'Mine');
  });

  test(`${kind}: reviewers who cannot be asked and labels that cannot be made are warnings; the others are set`, async (t) => {
    const { forge, server } = await serveForge(t, kind);
    const outcome = await forge.open(aDraft({ reviewers: ['ada', 'nobody', 'grace'] }));
    assert.deepEqual(server.pulls[0]?.reviewers, ['ada', 'grace']);
    assert.equal(outcome.warnings.length, 1);
    assert.match(outcome.warnings[0] ?? '', /reviewer nobody/);
  });

  test(`${kind}: a draft is opened as one, and stays ready once a person made it ready`, async (t) => {
    const { forge, server } = await serveForge(t, kind);
    const { pullRequest } = await forge.open(aDraft({ draft: true }));
    assert.deepEqual([pullRequest.draft, pullRequest.title], [true, 'Memory: 2 lines learned']);
    await forge.refresh(1, aDraft({ title: 'Still a draft' }));
    assert.deepEqual([server.pulls[0]?.draft, server.pulls[0]?.title], [true, 'Still a draft']);
    if (server.pulls[0] !== undefined) server.pulls[0].draft = false;
    await forge.refresh(1, aDraft({ title: 'Ready now' }));
    assert.deepEqual([server.pulls[0]?.draft, server.pulls[0]?.title], [false, 'Ready now']);
  });

  test(`${kind}: the label that rejects is there for people to choose`, async (t) => {
    const { forge, server } = await serveForge(t, kind);
    await forge.open(aDraft());
    assert.ok(server.settings.labels.includes('memory:reject'));
    assert.deepEqual(server.pulls[0]?.labels, ['memory']);
    server.shut(1);
    assert.deepEqual((await forge.open(aDraft())).warnings, []);
  });

  test(`${kind}: a branch with signs in its name arrives as it is`, async (t) => {
    const { forge } = await serveForge(t, kind);
    const headBranch = 'memory/a+b&c=d';
    await forge.open(aDraft({ headBranch }));
    assert.equal((await forge.find({ ...aQuery, headBranch })).open?.headBranch, headBranch);
  });

  test(`${kind}: the repository's facts`, async (t) => {
    const { forge, server } = await serveForge(t, kind, { visibility: 'internal', defaultBranch: 'trunk' });
    assert.deepEqual(await forge.repository(), {
      name: 'acme/memory',
      url: `${server.url}/acme/memory`,
      visibility: 'internal',
      isFork: false,
      defaultBranch: 'trunk',
      isArchived: false,
      mayPush: true,
      mayOpenPullRequests: true,
    });
    const fork = (await serveForge(t, kind, { visibility: 'public', isFork: true, takesPulls: false })).forge;
    const facts = await fork.repository();
    assert.deepEqual([facts.visibility, facts.isFork, facts.mayOpenPullRequests], ['public', true, false]);
    const archived = (await serveForge(t, kind, { isArchived: true })).forge;
    assert.equal((await archived.repository()).mayPush, false);
  });
}

test('github: whose the token is: a user, Actions, an App', async (t) => {
  const { forge, again } = await serveForge(t, 'github');
  assert.equal(await forge.whoAmI(), 'memory-bot');
  assert.equal(await again({ token: actionsToken }).whoAmI(), 'github-actions[bot]');
  assert.equal(await again({ token: appToken }).whoAmI(), 'memory-app[bot]');
});

test('github: Actions finds again what Actions opened', async (t) => {
  const { again } = await serveForge(t, 'github');
  await again({ token: actionsToken }).open(aDraft());
  assert.equal((await again({ token: actionsToken }).find(aQuery)).open?.author, 'github-actions[bot]');
});

test('github: what an App may do is unknown, since the host does not tell it', async (t) => {
  const { again } = await serveForge(t, 'github');
  const { mayPush, mayOpenPullRequests } = await again({ token: actionsToken }).repository();
  assert.deepEqual([mayPush, mayOpenPullRequests], [null, null]);
});

test('github: a team is asked by its short name', async (t) => {
  const { forge, server } = await serveForge(t, 'github');
  const { warnings } = await forge.open(aDraft({ reviewers: ['acme/crew', 'ada'] }));
  assert.deepEqual(warnings, []);
  assert.deepEqual(server.pulls[0]?.reviewers, ['ada', 'crew']);
});

test('github: a repository without drafts gets one that is ready, and a warning', async (t) => {
  const { forge, server } = await serveForge(t, 'github', { knowsDrafts: false });
  const { warnings } = await forge.open(aDraft({ draft: true }));
  assert.equal(server.pulls[0]?.draft, false);
  assert.match(warnings.join(), /no drafts/);
});

test('github: a token that may make no labels sets those that exist', async (t) => {
  const token = 'no-labels-1234';
  const { again, server } = await serveForge(t, 'github', {
    labels: ['memory'],
    tokens: { [token]: { login: 'memory-bot', kind: 'user', mayCreateLabels: false } },
  });
  const { warnings } = await again({ token }).open(aDraft({ labels: ['memory', 'new one'] }));
  assert.deepEqual(server.pulls[0]?.labels, ['memory']);
  assert.deepEqual(
    warnings.map((warning) => /label (new one|memory:reject)\./.exec(warning)?.[1]),
    ['new one', 'memory:reject'],
  );
});

test('gitlab: whoever was asked to review already stays asked', async (t) => {
  const { forge, server, again } = await serveForge(t, 'gitlab');
  await forge.open(aDraft({ reviewers: ['ada'] }));
  await again().open(aDraft({ reviewers: ['grace'] }));
  assert.deepEqual(server.pulls[0]?.reviewers, ['ada', 'grace']);
});

test('gitlab: a fast-forward without a merge commit is known by its tip', async (t) => {
  const { forge, server } = await serveForge(t, 'gitlab');
  await forge.open(aDraft());
  server.merge(1, merged);
  if (server.pulls[0] !== undefined) server.pulls[0].mergeOid = null;
  assert.equal((await forge.find({ ...aQuery, number: 1 })).recorded?.mergeOid, '1'.repeat(40));
});
