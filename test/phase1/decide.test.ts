import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Known, matches, modeOf, type ReadPolicy, readingOrder, whySkipped } from '../../scripts/phase1/decide.ts';
import type { Thread } from '../../scripts/rollout/types.ts';
import { aFound, aReadPolicy, day } from '../support/rows.ts';

const unknown: Known = { firstSeenAt: null, memoryMode: 'enabled', tombstoned: false, horizon: 0 };

function why(thread: Partial<Thread>, known: Partial<Known> = {}, more: Partial<ReadPolicy> = {}, humanItems = 1) {
  return whySkipped(aFound('t', thread, humanItems), { ...unknown, ...known }, { ...aReadPolicy, ...more }, day(100));
}

test('an idle, recent root session of an included repository is read', () => {
  assert.equal(why({ updatedAt: day(99) }), null);
});

test('sub-agents, ephemeral sessions and our own runs feed nothing', () => {
  assert.equal(why({ kind: 'sub_agent' }), 'sub_agent');
  assert.equal(why({ kind: 'ephemeral' }), 'ephemeral');
  assert.equal(why({ kind: 'own' }), 'own_run');
});

test('a session is idle after six hours, not before', () => {
  assert.equal(why({ updatedAt: day(100) - 6 * 3600 }), null);
  assert.equal(why({ updatedAt: day(100) - 6 * 3600 + 1 }), 'not_idle');
  assert.equal(why({ updatedAt: day(100) }, {}, { now: true }), null);
});

test('a session that is too old when it is first seen is never in time', () => {
  assert.equal(why({ updatedAt: day(90) }), null);
  assert.equal(why({ updatedAt: day(90) - 1 }), 'too_old');
  assert.equal(why({ updatedAt: day(60) }, { firstSeenAt: day(99) }), 'too_old');
});

test('one that was seen in time waits to be read, 30 days at most', () => {
  assert.equal(why({ updatedAt: day(75) }, { firstSeenAt: day(76) }), null);
  assert.equal(why({ updatedAt: day(69) }, { firstSeenAt: day(70) }), 'expired_unread');
});

test('since takes what is at least as new, whatever the age limit and the horizon', () => {
  assert.equal(why({ updatedAt: day(3) }, { horizon: day(50) }, { since: 0 }), null);
  assert.equal(why({ updatedAt: day(3) }, {}, { since: day(4) }), 'too_old');
  assert.equal(why({ updatedAt: day(92) }, { horizon: day(95) }), 'before_horizon');
});

test('a session of a repository that is not included leaves no trace, unless its source was named', () => {
  assert.equal(why({ repo: 'git.example.test/other/x' }), 'repository_not_included');
  assert.equal(why({ repo: 'none' }, {}, { all: true }), null);
  assert.equal(why({ repo: 'git.example.test/fork/shop', aliases: ['git.example.test/acme/shop'] }), null);
});

test('what is excluded stays out even where it is included, by any of its names', () => {
  const exclude = ['git.example.test/acme/secret'];
  assert.equal(why({ repo: 'git.example.test/acme/secret' }, {}, { exclude }), 'repository_excluded');
  assert.equal(why({ aliases: ['git.example.test/acme/secret'] }, {}, { exclude, all: true }), 'repository_excluded');
});

test('names match exactly: a longer or near-equal name is another repository', () => {
  assert.ok(matches(['h/acme/shop'], 'h/acme/shop'));
  assert.ok(!matches(['h/acme/shop'], 'h/acme/shop-api'));
  assert.ok(!matches(['h/acme/*'], 'h/acme-inc/shop'));
  assert.ok(!matches(['h/acme/*'], 'h/acme'));
});

test('a session that a person keeps out is not read, whatever it taught before', () => {
  const says = { ...aFound('t'), optsOut: true };
  const now = { ...aReadPolicy, now: true };
  assert.equal(whySkipped(says, unknown, now, day(100)), 'opted_out');
  assert.equal(modeOf(says, 'enabled', now), 'disabled');
  const listed = { ...now, isOptedOut: ({ path }: { readonly path: string }) => path === says.path };
  assert.equal(whySkipped(aFound('t'), unknown, listed, day(100)), 'opted_out', 'by this laptop’s list or hook');
  assert.equal(modeOf(aFound('t'), 'disabled', now), 'disabled', 'what was taken out by hand stays out');
});

test('what read the web or MCP servers is read, left out or ranked last, as the configuration says', () => {
  const found = { ...aFound('t'), usedOutside: true };
  const told = (outside: ReadPolicy['outside'], before: Known['memoryMode'] = 'enabled') => {
    const asked = { ...aReadPolicy, now: true, outside };
    return [whySkipped(found, { ...unknown, memoryMode: before }, asked, day(100)), modeOf(found, before, asked)];
  };
  assert.deepEqual(told('include'), [null, 'enabled']);
  assert.deepEqual(told('exclude'), ['used_outside', 'polluted']);
  assert.deepEqual(told('downrank'), [null, 'polluted']);
  assert.deepEqual(told('include', 'polluted'), [null, 'enabled'], 'the configuration is a person’s word');
  const asked = { ...aReadPolicy, outside: 'exclude' } as const;
  assert.equal(whySkipped(aFound('t'), { ...unknown, memoryMode: 'polluted' }, asked, day(100)), 'used_outside');
  assert.equal(modeOf(aFound('t'), 'polluted', asked), 'polluted', 'nothing takes it back by itself');
});

test('a session without human words, a disabled one and a forgotten one are skipped for that reason', () => {
  assert.equal(why({}, {}, {}, 0), 'no_human_words');
  assert.equal(why({}, { memoryMode: 'disabled' }), 'disabled');
  assert.equal(why({}, { tombstoned: true }), 'tombstoned');
  assert.equal(why({ origin: 'exec' }, {}, { excludeOrigins: ['exec'] }), 'origin_excluded');
});

test('the newest are read first, and every fifth is the oldest that is left', () => {
  const sessions = [1, 2, 3, 4, 5, 6, 7].map((n) => aFound(`t${n}`, { updatedAt: day(n) }));
  assert.deepEqual(
    readingOrder(sessions).map((found) => found.thread.id),
    ['t7', 't6', 't5', 't4', 't1', 't3', 't2'],
  );
  assert.deepEqual(readingOrder([...sessions].reverse()), readingOrder(sessions));
});
