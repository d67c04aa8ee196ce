import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { openRepository } from '../../scripts/git/open.ts';
import type { Facts } from '../../scripts/report/facts.ts';
import { gather, type Report } from '../../scripts/report/gather.ts';
import { html } from '../../scripts/report/html.ts';
import { sessionWords } from '../../scripts/report/session-words.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { currentState } from '../../scripts/state/current.ts';
import type { State } from '../../scripts/state/database.ts';
import { putEvidence } from '../../scripts/state/evidence.ts';
import { setTombstone } from '../../scripts/state/tombstones.ts';
import { usageOf } from '../../scripts/status/usage.ts';
import { now, shortIdOf, type Taught, writeReportMemory } from '../support/report-memory.ts';
import { aRepository, env } from '../support/repository.ts';
import { anItem } from '../support/state-rows.ts';
import { threadId } from '../support/written-sessions.ts';

const shop = 'git.example.test/acme/shop';
const taught: readonly Taught[] = [
  {
    repo: shop,
    topic: 'Builds',
    title: 'Make it build',
    line: 'Run make check',
    words: ['Run make check.', 'I will.'],
    summary: 'Ran.',
  },
  { repo: '*', topic: 'Manners', title: 'Be brief', line: 'Answer briefly', words: ['Be brief.'], summary: 'Brief.' },
];
const person =
  '# Task Group: By hand\nscope: mine\napplies_to: repo=git.example.test/acme/shop; cwd=.; reuse_rule=ask\n\n## Reusable knowledge\n- Dana owns the deploy\n- Gone since long [zzzzzzz2@4]\n\nAsk her first.\n';

async function aReport(t: TestContext, change: (state: State) => void = () => {}, damage = false): Promise<Report> {
  const dir = aRepository(t);
  await writeReportMemory(dir, { taught });
  const repository = await openRepository(dir, { env });
  const { state, oid } = await currentState(repository);
  change(state);
  const { oid: head } = await repository.head();
  const memories = new Map(await repository.readFiles(head ?? '', ['memories']));
  memories.set('memories/MEMORY.md', `${memories.get('memories/MEMORY.md')}\n${person}`);
  let archived = await repository.readRef(archiveRef);
  if (damage) {
    const [path = ''] = [...(await repository.listFiles(archived ?? '', ['']))].map(([one]) => one);
    const author = { name: 'Dana', email: 'dana@example.org' };
    const changes = new Map([[path, '{"format":"ctm-rollout"\n']]);
    archived = await repository.writeCommit({
      base: archived,
      parents: [],
      changes,
      message: 'Damage',
      author,
      at: now,
    });
  }
  const calm = {
    known: 2,
    unread: 0,
    failed: [],
    scopes: [],
    warnings: [],
    month: { tokens: 0, usd: 0, usdPerMonth: null },
  };
  const facts: Facts = {
    branch: 'refs/heads/main',
    stateOid: oid,
    state,
    memories,
    usage: usageOf(state, memories, 30, now),
    waiting: calm,
    words: sessionWords({ repository, archived, local: null }),
    now,
  };
  return gather(facts, createRedactor({}));
}

test('the handbook stands by repository and topic, what holds everywhere first', async (t) => {
  const { index } = await aReport(t);
  assert.deepEqual(
    index.repositories.map(({ id, topics }) => [id, topics.map(({ title }) => title)]),
    [
      ['*', ['Manners']],
      [shop, ['Builds', 'By hand']],
    ],
  );
});

test('a line leads to its session and items; a person’s own to none; one of an unknown session to its short id', async (t) => {
  const { index } = await aReport(t);
  const lines = index.repositories.flatMap(({ topics }) => topics.flatMap((topic) => topic.lines));
  const place = index.sessions.findIndex(({ shortId }) => shortId === shortIdOf(0));
  assert.deepEqual(
    lines.slice(1).map(({ text, section, authority, evidence }) => [text, section, authority, evidence]),
    [
      ['Run make check', 'preferences', 'human', [[place, ['2']]]],
      ['Dana owns the deploy', 'knowledge', 'none', []],
      ['Gone since long', 'knowledge', 'agent', [['zzzzzzz2', ['4']]]],
      ['Ask her first.', 'note', 'none', []],
    ],
  );
});

test('a line is a tool’s where no person’s words stand behind it, and an agent’s where no tool’s do', async (t) => {
  const authority = async (who: 'tool' | 'assistant') =>
    (await aReport(t, (state) => putEvidence(state, [anItem(threadId(1), '2', { who })]))).index.repositories[1]
      ?.topics[0]?.lines[0]?.authority;
  assert.deepEqual([await authority('tool'), await authority('assistant')], ['observed', 'agent']);
});

test('a stored session that is damaged leaves what was extracted of it', async (t) => {
  const { index, words } = await aReport(t, () => {}, true);
  const froms = index.sessions.map((_, place) => words[place]?.items[0]?.from);
  assert.deepEqual(froms.sort(), ['extract', 'session']);
});

test('a forgotten session, and one of a forgotten author, is not in the report', async (t) => {
  const stone = { reason: 'r', runId: null, pullRequest: null, setAt: now };
  const thread = await aReport(t, (state) => setTombstone(state, { kind: 'thread', key: threadId(1), ...stone }));
  assert.deepEqual(
    thread.index.sessions.map(({ shortId }) => shortId),
    [shortIdOf(1)],
  );
  const author = await aReport(t, (state) => setTombstone(state, { kind: 'author', key: 'ada', ...stone }));
  assert.deepEqual([author.index.sessions, author.words], [[], []]);
});

test('forgotten words take the title with them that may repeat them', async (t) => {
  const stone = { reason: 'r', runId: null, pullRequest: null, setAt: now };
  const { index, words } = await aReport(t, (state) =>
    setTombstone(state, { kind: 'evidence', key: `${threadId(1)} 2 ${shop}`, ...stone }),
  );
  const place = index.sessions.findIndex(({ shortId }) => shortId === shortIdOf(0));
  assert.equal(index.sessions[place]?.title, '');
  assert.deepEqual(
    words[place]?.items.map(({ text, from }) => [text, from]),
    [['', 'forgotten']],
  );
  assert.equal(words[place]?.summary, 'Ran.');
});

test('a template escapes what it is given, markup of its own aside', () => {
  const bold = html`<b>${'<&>'}</b>`;
  assert.equal(
    html`<p title="${'"\''}">${bold}${[bold, null]}${3}</p>`.toString(),
    '<p title="&quot;&#39;"><b>&lt;&amp;&gt;</b><b>&lt;&amp;&gt;</b>3</p>',
  );
});
