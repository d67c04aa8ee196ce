import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openRepository } from '../../scripts/git/open.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { currentState } from '../../scripts/state/current.ts';
import { listRuns } from '../../scripts/state/runs.ts';
import { parseHandbook, scopeOf } from '../../scripts/workspace/handbook.ts';
import type { RecordedRequest } from '../support/api-types.ts';
import { api, cwdOf, type Nights, type Played, shop, sound, startNights } from '../support/model-nights.ts';
import { env } from '../support/repository.ts';
import { agentAnswer, goneThreads, handbook, read, scopeIn, turnOf, write } from '../support/scripted-agent.ts';
import { isExtraction } from '../support/scripted-extractor.ts';
import { threadId } from '../support/written-sessions.ts';

const build = {
  id: threadId(1),
  cwd: cwdOf[shop],
  at: '2026-11-28T10:00:00Z',
  happened: [
    { human: 'Fix the build' },
    { run: 'make', out: 'FACT the tests need port 5432' },
    { human: 'please use pnpm, not npm' },
    { says: 'Done.' },
  ],
} as const;

const endpoint = {
  id: threadId(2),
  cwd: cwdOf[api],
  at: '2026-11-28T11:00:00Z',
  happened: [{ human: 'Add an endpoint' }, { run: 'make', out: 'FACT the server listens on 8080' }, { says: 'Done.' }],
} as const;

const deploy = {
  id: threadId(3),
  cwd: cwdOf[shop],
  at: '2026-11-29T10:00:00Z',
  happened: [{ human: 'Deploy it' }, { run: 'make', out: 'FACT deploying takes two runs' }, { says: 'Done.' }],
} as const;

async function afterInit(t: TestContext): Promise<{ nights: Nights; init: Played }> {
  const nights = await startNights(t, 'git');
  nights.write(build, endpoint);
  return { nights, init: await nights.play({ at: '2026-11-29T03:00:00Z' }) };
}

function blocksOf(nights: Nights, scope: string): string {
  return parseHandbook(nights.file(handbook))
    .blocks.filter((block) => scopeOf(block) === scope)
    .map(({ raw }) => raw)
    .join('');
}

/** The scopes that agents were asked about, in the order of their first request. */
function scopesAsked(requests: readonly RecordedRequest[]): string[] {
  return [...new Set(requests.filter((request) => !isExtraction(request)).map(scopeIn))];
}

test('INIT reads every session, builds every repository, and the scope `*` last from the digest', async (t) => {
  const { nights, init } = await afterInit(t);
  assert.equal(init.report.outcome, 'done');
  assert.equal(init.requests.filter(isExtraction).length, 2);
  const asked = scopesAsked(init.requests);
  assert.deepEqual([asked.at(-1), asked.slice(0, 2).sort()], ['*', [api, shop]]);
  for (const scope of [api, shop])
    assert.match(firstOf(init, scope).texts[1] ?? '', /^Build the memory of the scope .* There is no usable handbook/);
  const star = init.requests.findLast((request) => scopeIn(request) === '*');
  const digest = star?.texts.find((text) => text.startsWith('1\t# Task Group: ')) ?? '';
  assert.match(digest, /please use pnpm, not npm/);
  assert.doesNotMatch(digest, /port 5432/, 'knowledge is the repository’s own');

  const [k, l] = [shortThreadId(build.id), shortThreadId(endpoint.id)];
  assert.match(blocksOf(nights, shop), new RegExp(`- the tests need port 5432 \\[${k}@4\\]\n`));
  assert.match(blocksOf(nights, shop), new RegExp(`"please use pnpm, not npm" -> do so by default \\[${k}@5\\]\n`));
  assert.match(blocksOf(nights, api), new RegExp(`- the server listens on 8080 \\[${l}@4\\]\n`));
  assert.match(nights.file('memories/memory_summary.md'), new RegExp(`^v1\n[\\s\\S]*- ${api}: [\\s\\S]*- ${shop}: `));
  assert.equal(nights.file('memories/digest.md'), '', 'the digest stands in no tree');
  assert.deepEqual(nights.git('log', '--format=%s').split('\n'), [
    `memory: learned in ${api} and ${shop}`,
    'memory: inputs of 2 sessions',
    'Start',
  ]);
  nights.git('fsck', '--strict');
});

test('INCREMENTAL asks for the new session and its repository alone, and the other stays byte for byte', async (t) => {
  const { nights } = await afterInit(t);
  const before = { api: blocksOf(nights, api), summary: nights.file('memories/memory_summary.md') };
  nights.write(deploy);
  const { report, requests } = await nights.play({ at: '2026-11-30T03:00:00Z' });

  assert.equal(requests.filter(isExtraction).length, 1);
  assert.match(requests.find(isExtraction)?.texts[1] ?? '', /Deploy it/);
  assert.deepEqual(scopesAsked(requests), [shop, '*'], 'the new block’s heading is in the digest');
  const asked = firstOf({ requests }, shop).texts[1] ?? '';
  assert.match(asked, /^Bring the memory of the scope/);
  const diff = asked.slice(asked.indexOf('# Memory Workspace Diff'));
  assert.deepEqual(
    [...diff.matchAll(/^- ([AMD]) (\S+)$/gm)].map((match) => `${match[1]} ${match[2]}`),
    ['M memories/raw_memories.md', 'A memories/rollout_summaries/2026-11-29T10-00-00-0003-deploy_it.md'],
  );
  assert.doesNotMatch(diff, /5432|8080/, 'what did not change is not in the difference');
  for (const request of requests) assert.doesNotMatch(request.texts.join('\n'), /8080/, 'nor the other repository’s');

  assert.equal(report.outcome, 'done');
  assert.equal(blocksOf(nights, api), before.api);
  assert.match(blocksOf(nights, shop), /port 5432[\s\S]*deploying takes two runs/);
  assert.equal(nights.file('memories/memory_summary.md'), before.summary);
});

test('a night without anything new asks nothing and commits nothing', async (t) => {
  const { nights } = await afterInit(t);
  const before = [nights.tip(), nights.git('rev-parse', 'refs/memory/state')];
  const { report, requests } = await nights.play({ at: '2026-11-30T03:00:00Z' });
  assert.deepEqual([report.outcome, requests.length], ['quiet', 0]);
  assert.deepEqual([nights.tip(), nights.git('rev-parse', 'refs/memory/state')], before);
});

test('a preference in one repository brings `*` up to date, which sees the change of the digest', async (t) => {
  const { nights } = await afterInit(t);
  nights.write({ ...deploy, happened: [...deploy.happened, { human: 'always tag the release' }] });
  const { requests } = await nights.play({ at: '2026-11-30T03:00:00Z' });
  assert.deepEqual(scopesAsked(requests), [shop, '*']);
  const star = firstOf({ requests }, '*').texts[1] ?? '';
  assert.match(star, /- M memories\/digest\.md/);
  assert.match(star, /^\+- when working here: "always tag the release"/m);
  assert.doesNotMatch(star, /^\+.*pnpm/m);
});

test('a session that grew is read again, and its repository is told what changed in it', async (t) => {
  const { nights } = await afterInit(t);
  nights.write({
    ...build,
    happened: [...build.happened, { run: 'make', out: 'FACT the cache was stale and is cleared now' }],
  });
  const { requests } = await nights.play({ at: '2026-11-30T03:00:00Z' });
  assert.equal(requests.filter(isExtraction).length, 1);
  const diff = firstOf({ requests }, shop).texts[1] ?? '';
  assert.match(diff, /^\+- the cache was stale and is cleared now \(@8\)$/m);
  assert.doesNotMatch(diff, /^[+-].*port 5432/m);
});

/** Both sessions of the shop found out the same; one of them is not used for a month. */
async function twoThatSayTheSame(t: TestContext): Promise<Nights> {
  const nights = await startNights(t);
  const happened = [
    { human: 'Check the port' },
    { run: 'make', out: 'FACT the tests need port 5432\nFACT only the first saw this' },
  ] as const;
  nights.write(
    { id: threadId(4), cwd: cwdOf[shop], at: '2026-11-01T10:00:00Z', happened },
    {
      id: threadId(5),
      cwd: cwdOf[api],
      at: '2026-11-01T10:00:00Z',
      happened: [{ human: 'Other work' }, { run: 'ls', out: 'FACT it has a Makefile' }],
    },
  );
  await nights.play({ at: '2026-11-02T03:00:00Z' });
  nights.write({
    id: threadId(6),
    cwd: cwdOf[shop],
    at: '2026-11-28T10:00:00Z',
    happened: [{ human: 'Ports again' }, { run: 'make', out: 'FACT the tests need port 5432' }],
  });
  const [first, second] = [shortThreadId(threadId(4)), shortThreadId(threadId(6))];
  await nights.play({
    at: '2026-11-29T03:00:00Z',
    behave: (request, index) => {
      const answer = sound(request, index);
      if (isExtraction(request) || scopeIn(request) !== shop || !('calls' in answer)) return answer;
      const calls = answer.calls?.map((call) => {
        const { text = '' } = call.arguments as { text?: string };
        if (call.name !== 'write') return call;
        const merged = text
          .replace(`- the tests need port 5432 [${first}@4]`, `- the tests need port 5432 [${first}@4] [${second}@4]`)
          .replace(`\n\n## Reusable knowledge\n- the tests need port 5432 [${second}@4]`, '');
        return write(handbook, merged);
      });
      return calls === undefined ? answer : { calls };
    },
  });
  assert.match(nights.file(handbook), new RegExp(`port 5432 \\[${first}@4\\] \\[${second}@4\\]`));
  return nights;
}

test('a session that nobody used for a month is forgotten, and what another session supports stays', async (t) => {
  const nights = await twoThatSayTheSame(t);
  const [first, second] = [shortThreadId(threadId(4)), shortThreadId(threadId(6))];
  const { report, requests } = await nights.play({ at: '2026-12-03T03:00:00Z' });
  const asked = firstOf({ requests }, shop);
  assert.deepEqual(goneThreads(asked), [first]);
  assert.match(asked.texts[1] ?? '', /^- D memories\/rollout_summaries\/2026-11-01T10-00-00-0004-check_the_port\.md$/m);
  assert.deepEqual(report.phase2.scopes.find(({ scope }) => scope === shop)?.forgotten, [threadId(4)]);
  const { state } = await currentState(await openRepository(nights.dir, { env }));
  assert.equal(listRuns(state, 1)[0]?.counts.forgotten, report.phase2.scopes.flatMap((one) => one.forgotten).length);
  const text = nights.file(handbook);
  assert.match(text, new RegExp(`- the tests need port 5432 \\[${second}@4\\]\n`));
  assert.doesNotMatch(text, /only the first saw this/);
  assert.doesNotMatch(text, new RegExp(`${first}@|check_the_port`));
  assert.equal(nights.file('memories/rollout_summaries/2026-11-01T10-00-00-0004-check_the_port.md'), '');
  assert.doesNotMatch(nights.file('memories/raw_memories.md'), new RegExp(threadId(4)));
});

test('what an agent forgets to forget loses its references all the same', async (t) => {
  const nights = await twoThatSayTheSame(t);
  const { report } = await nights.play({
    at: '2026-12-03T03:00:00Z',
    behave: (request, index) => {
      if (isExtraction(request) || scopeIn(request) === '*') return sound(request, index);
      return { text: 'I leave it as it is.' };
    },
  });
  assert.equal(report.outcome, 'done');
  const text = nights.file(handbook);
  assert.doesNotMatch(text, /check_the_port/);
  for (const [, stem] of text.matchAll(/^- (rollout_summaries\/\S+\.md) /gm))
    assert.notEqual(nights.file(`memories/${stem}`), '', `${stem} exists`);
  assert.match(text, /port 5432/);
});

test('a repository whose last session is forgotten is left without a block, and nobody is asked to build it anew', async (t) => {
  const nights = await twoThatSayTheSame(t);
  const gone = await nights.play({ at: '2026-12-03T03:00:00Z' });
  assert.ok(scopesAsked(gone.requests).includes(api));
  assert.equal(blocksOf(nights, api), '');
  assert.doesNotMatch(nights.file('memories/memory_summary.md'), new RegExp(`- ${api}`));
  const { report, requests } = await nights.play({ at: '2026-12-04T03:00:00Z' });
  assert.deepEqual(scopesAsked(requests), []);
  const next = await nights.play({ at: '2026-12-05T03:00:00Z' });
  assert.deepEqual([next.report.outcome, next.requests.length], ['quiet', 0], report.outcome);
});

for (const forgets of [true, false]) {
  test(`a block for all repositories goes with its sessions, whether or not its agent ${forgets ? 'takes it out' : 'looks'}`, async (t) => {
    const nights = await startNights(t);
    const happened = [{ human: 'Look' }, { run: 'make', out: 'FACT make needs two runs' }] as const;
    const [mine, theirs] = [threadId(4), threadId(5)];
    nights.write(
      { id: mine, cwd: cwdOf[shop], at: '2026-11-01T10:00:00Z', happened },
      { id: theirs, cwd: cwdOf[api], at: '2026-11-01T10:00:00Z', happened },
      {
        id: threadId(6),
        cwd: cwdOf[shop],
        at: '2026-11-01T11:00:00Z',
        happened: [{ human: 'Tidy' }, { human: 'please keep it tidy' }],
      },
    );
    const stem = 'rollout_summaries/2026-11-01T10-00-00-0004-look.md';
    const shared = `# Task Group: Everywhere
scope: all work
applies_to: repo=*; cwd=any; reuse_rule=always

## Task 1: Look, success
### rollout_summary_files
- ${stem} (cwd=., rollout_path=2026/11/01/${mine}.jsonl, updated_at=2026-11-01T10:00:03Z, thread_id=${mine})
### keywords
- make

## Reusable knowledge
- make needs two runs [${shortThreadId(mine)}@4] [${shortThreadId(theirs)}@4]
`;
    const star =
      (text: string, then: typeof sound): typeof sound =>
      (request, index) => {
        if (isExtraction(request) || scopeIn(request) !== '*') return sound(request, index);
        if (turnOf(request) !== 1) return then(request, index);
        return { calls: [...(agentAnswer(request).calls ?? []), write(handbook, text, 'star')] };
      };
    await nights.play({ at: '2026-11-02T03:00:00Z', behave: star(shared, sound) });
    assert.match(blocksOf(nights, '*'), /make needs two runs/);
    const { report } = await nights.play({
      at: '2026-12-03T03:00:00Z',
      behave: forgets
        ? star('', sound)
        : (request, index) =>
            isExtraction(request) || scopeIn(request) !== '*' ? sound(request, index) : { text: 'All is well.' },
    });
    assert.equal(report.outcome, 'done', JSON.stringify(report.phase2.scopes.at(-1)));
    assert.equal(blocksOf(nights, '*'), '');
    assert.match(nights.file(handbook), /please keep it tidy/);
    const pruned = await nights.play({ at: '2026-12-04T03:00:00Z' });
    assert.deepEqual([pruned.report.pruned.outputs > 0, pruned.requests.length], [true, 0]);
    const after = await nights.play({ at: '2026-12-05T03:00:00Z' });
    assert.deepEqual([after.report.outcome, after.requests.length], ['quiet', 0]);
  });
}

for (const [config, expected] of [
  ['language: en\naudience: person\n', /Write prose in English[\s\S]*|The audience here is `person`/],
  ['language: source\naudience: team\n', /in the language in which the people of these sessions write/],
] as const) {
  test(`the agents are told ${config.replace(/\n/g, ' ').trim()}`, async (t) => {
    const nights = await startNights(t);
    nights.write(build);
    const { requests } = await nights.play({ at: '2026-11-29T03:00:00Z', config });
    const audience = /audience: (\w+)/.exec(config)?.[1] ?? '';
    const [one, two] = [requests.find(isExtraction), firstOf({ requests }, shop)];
    for (const request of [one, two]) assert.match(request?.texts[0] ?? '', expected);
    assert.match(two.texts[0] ?? '', new RegExp(`The audience here is \`${audience}\``));
  });
}

test('what is one person’s own taste is stored for the audience person and dropped for a team', async (t) => {
  const personal = (request: RecordedRequest) => {
    if (!isExtraction(request)) return agentAnswer(request);
    const text =
      '### Task 1: Fix the build\ntask_outcome: success\n\nPreference signals (personal):\n- "please use pnpm, not npm" -> so (@5)\n\nReusable knowledge:\n- port 5432 (@4)';
    return {
      text: JSON.stringify({
        rollout_summary: '# Fix\n\nKey steps:\n- make (@4)',
        rollout_slug: 'fix',
        raw_memory: text,
      }),
    };
  };
  for (const audience of ['team', 'person']) {
    const nights = await startNights(t);
    nights.write(build);
    await nights.play({ at: '2026-11-29T03:00:00Z', config: `audience: ${audience}\n`, behave: personal });
    const stored = [nights.file('memories/raw_memories.md'), nights.file('state.sqlite.json'), nights.file(handbook)];
    for (const text of stored) assert.equal(/pnpm/.test(text), audience === 'person', audience);
  }
});

test('the tools show an agent its own repository and nothing else', async (t) => {
  const nights = await startNights(t);
  nights.write(build, endpoint);
  const { requests } = await nights.play({
    at: '2026-11-29T03:00:00Z',
    behave: (request, index) => {
      if (isExtraction(request) || scopeIn(request) === '*' || request.texts.length > 2) return sound(request, index);
      const search = { id: 'search', name: 'search', arguments: { text: 'the', path: '' } };
      const outside = ['state.sqlite.json', 'README.md', '../README.md', '/etc/passwd', 'memories/memory_summary.md'];
      return {
        calls: [
          { id: 'list', name: 'list', arguments: {} },
          search,
          read('memories/raw_memories.md', 'raw'),
          ...outside.map((path) => read(path, path)),
        ],
      };
    },
  });
  for (const [scope, foreign] of [
    [shop, /8080|endpoint|acme\/api/],
    [api, /5432|pnpm|acme\/shop/],
  ] as const) {
    const own = requests.filter((request) => !isExtraction(request) && scopeIn(request) === scope);
    assert.ok(own.length > 1);
    for (const { texts } of own) assert.doesNotMatch(texts.join('\n'), foreign);
    assert.equal(own[1]?.texts.filter((text) => text.startsWith('There is no file')).length, 5);
  }
});

function firstOf({ requests }: Pick<Played, 'requests'>, scope: string): RecordedRequest {
  const request = requests.find((one) => !isExtraction(one) && scopeIn(one) === scope);
  assert.ok(request, `${scope} was asked about`);
  return request;
}
