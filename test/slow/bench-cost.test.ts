import assert from 'node:assert/strict';
import { test } from 'node:test';
import { benchCommand, benchSpec } from '../../scripts/bench/command.ts';
import { ranHere } from '../support/nights.ts';

const cost = (...args: string[]) => ranHere(benchSpec, benchCommand, ['cost', ...args]);

test('what nights cost is reckoned from the requests that the samples make: two runs tell the same', async () => {
  const { code, stdout } = await cost('--json', '--repositories', '4', '--sessions', '20');
  assert.equal(code, 0);
  const { sessions, tokens, load, reckoned, remembered, each } = JSON.parse(stdout);
  assert.ok(sessions > 20);
  assert.deepEqual(load, { repositories: 4, people: 30, sessions: 20, turns: 12 });
  assert.ok(tokens.session.constant > 1_500, 'instructions and schema');
  assert.ok(tokens.session.own > 300 && tokens.session.output > 100);
  assert.ok(tokens.conversation.opening > 1_000 && tokens.conversation.constant > 2_000);
  assert.ok(reckoned.nightInBatches < reckoned.night);
  assert.ok(remembered.sessions === sessions && remembered.lines > 20, `${remembered.lines}`);
  assert.ok(each.session < each.line && each.lineInBatches < each.line);
  assert.equal((await cost('--json', '--repositories', '4', '--sessions', '20')).stdout, stdout);
});

test('the table says what it rests on, and what is given counts instead of what was counted', async () => {
  const { stdout } = await cost('--session-tokens', '20000', '--extract', '1/0.1/10', '--people', '5');
  assert.match(stdout, /^phase 1 +200 +\d+\.\d\d +\d+ %/m);
  assert.match(stdout, /^phase 1 in batches, at 0\.5 of the price/m);
  assert.match(stdout, /20000 of its own/);
  assert.match(stdout, /^One session is read for \$0\.\d{4}, .*a line that stands in the handbook costs \$\d+\.\d{4}/m);
  assert.match(stdout, /Prices: 1\/0\.1\/10 \(phase 1\), 1\.25\/0\.125\/10 \(phase 2\)/);
  assert.match(stdout, /40 repositories, 5 people, 200 sessions a day/);
});

for (const [args, what] of [
  [['--extract', '1/2'], /--extract does not take “1\/2”/],
  [['--consolidate', 'free'], /--consolidate does not take “free”/],
  [['--sessions', '0'], /--sessions does not take “0”/],
  [['--session-tokens', '-1'], /--session-tokens/],
  [['--batch', '2'], /--batch does not take “2”/],
] as const)
  test(`cost ${args.join(' ')} is a usage error`, async () => {
    const { code, stderr } = await cost(...args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, what);
  });
