import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { forgets } from '../support/forgetting.ts';
import { bendAnswers, writtenAnswers } from '../support/journal-answers.ts';
import { type Behave, sound } from '../support/model-nights.ts';
import { playedHere, startCommand } from '../support/nights.ts';
import { commitAll, git, temporaryFolder } from '../support/repository.ts';
import { isExtraction } from '../support/scripted-extractor.ts';
import { at, numbersIn, oidsOf, phase1Here, type ShardNights, startShardNights, teaching } from '../support/shards.ts';

const all = Array.from({ length: 12 }, (_, n) => n + 1);

/** How often phase 1 asked. */
function extractions({ server }: ShardNights): number {
  return server.requests.filter(isExtraction).length;
}

/** More lines of the configuration. */
function writeConfig({ dir }: ShardNights, more: string): void {
  appendFileSync(join(dir, '.github/memory.yml'), more);
  commitAll(dir, 'Settings');
}

const shards = ['1/3', '2/3', '3/3'];

test('a night after its shards is the night without them, byte for byte, and asks for nothing that they asked for', async (t) => {
  const nights = await startShardNights(t);
  // One that teaches nothing, and one whose answers are never of use: its repair is asked for by the shard as well.
  const [good, useless] = [all.slice(0, 10), 11];
  nights.write(
    ...good.map((n) => teaching(n, n % 2 === 0 ? nights.shop : nights.api)),
    teaching(useless, nights.shop, 'useless'),
    teaching(12, nights.shop, 'nothing'),
  );
  nights.use((request, index) =>
    isExtraction(request) && (request.texts[1] ?? '').includes('useless') ? { text: 'no JSON' } : sound(request, index),
  );
  const [twin, before] = [nights.twin(), oidsOf(nights.dir)];
  const plain = await nights.night(twin);
  assert.equal(plain.code, 3, plain.stderr);
  const asked = extractions(nights);
  for (const shard of shards) {
    const { code, stdout, stderr } = await nights.shard(shard);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Done: part \d\/3 of the sessions: \d+ of \d+ read/);
  }
  assert.equal(extractions(nights), 2 * asked, 'no session is asked for by two, and none is forgotten');
  assert.equal(oidsOf(nights.dir), before, 'a shard moves no ref');
  const night = await nights.night(nights.dir, '--journal', join(nights.dir, '.git/memory/shards'));
  assert.equal(night.code, 3, night.stderr);
  assert.match(night.stderr, new RegExp(`Shards paid for ${asked} answers that this night need not ask for`));
  assert.equal(extractions(nights), 2 * asked);
  assert.equal(oidsOf(nights.dir), oidsOf(twin));
  const rows = (dir: string) => git(dir, 'show', 'refs/memory/state:state.sqlite.json');
  assert.equal(rows(nights.dir), rows(twin));
});

test('a shard that is killed loses only itself: the night asks for what it left, reads that last, and comes out the same', async (t) => {
  const nights = await startShardNights(t, '  concurrency: 2\n');
  nights.write(...all.map((n) => teaching(n, nights.shop)));
  const twin = nights.twin();
  assert.equal((await nights.night(twin)).code, 0);
  const victims = numbersIn(1, 2);
  let asked = 0;
  const silent = new Promise<void>((resolve) => {
    nights.use((request, index) => {
      asked += 1;
      if (asked < 3) return sound(request, index);
      if (asked === 4) resolve();
      return { stall: true };
    });
  });
  const shard = startCommand('phase1', ['--repo', nights.dir, '--shard', '1/2'], { env: at });
  await silent;
  shard.killAll();
  assert.equal((await shard.ended).signal, 'SIGKILL');
  nights.use(sound);
  assert.equal((await nights.shard('2/2')).code, 0);
  const before = extractions(nights);
  const night = await nights.night(nights.dir, '--journal', join(nights.dir, '.git/memory/shards'));
  assert.equal(night.code, 0, night.stderr);
  assert.equal(extractions(nights) - before, victims.length - 2, 'two of its answers were on disk');
  assert.equal(oidsOf(nights.dir), oidsOf(twin));
});

test('shards share what the night may spend: together never more than it, and the night does the rest', async (t) => {
  const cap = 105_000;
  const nights = await startShardNights(t, '  concurrency: 1\n');
  nights.write(...all.map((n) => teaching(n, nights.shop)));
  const dear: Behave = async (request, index) => {
    const answer = await sound(request, index);
    return isExtraction(request) ? { ...answer, usage: { input: 8_000, output: 2_000 } } : answer;
  };
  nights.use(dear);
  writeConfig(nights, `budget: { phase1_tokens: ${cap} }\n`);
  const spentOf = (stdout: string) => JSON.parse(stdout).usage.phase1;
  for (const shard of shards) {
    const { code, stdout, stderr } = await nights.shard(shard, '--json');
    assert.equal(code, 0, stderr);
    const { input, output } = spentOf(stdout).usage;
    assert.ok(input + output <= cap / 3 && input > 0, `${input} + ${output}`);
    const { found, read, left } = JSON.parse(stdout).sessions;
    assert.deepEqual([read.length + left.length, left.length > 0], [found, true]);
  }
  const paid = extractions(nights);
  const night = await nights.night(nights.dir, '--journal', join(nights.dir, '.git/memory/shards'), '--json');
  assert.equal(night.code, 0, night.stderr);
  const { usage, replayed } = spentOf(night.stdout);
  assert.equal(replayed, paid);
  assert.equal(usage.input + usage.output, 10_000 * extractions(nights));
  assert.ok(extractions(nights) > paid && usage.input + usage.output <= cap, 'the cap of the night holds for all');
});

test('a shard’s journal of the night before is neither replayed nor counted, and its folder is used again', async (t) => {
  const nights = await startShardNights(t);
  nights.write(...all.slice(0, 4).map((n) => teaching(n, nights.shop)));
  assert.equal((await nights.shard('1/1')).code, 0);
  const journal = join(nights.dir, '.git/memory/shards');
  assert.equal((await nights.night(nights.dir, '--journal', journal)).code, 0);
  nights.write(...all.slice(4, 6).map((n) => teaching(n, nights.shop)));
  const later = { CTM_CLOCK: '2026-12-01T03:00:00Z' };
  const again = await playedHere(['--repo', nights.dir, '--journal', journal], later);
  assert.match(again.stderr, /1-of-1 is of another night, and is left out/);
  assert.match(again.stderr, /Shards paid for 0 answers/);
  nights.write(teaching(7, nights.shop));
  assert.equal((await phase1Here(['--repo', nights.dir, '--shard', '1/1'], later)).code, 0);
  assert.equal(writtenAnswers(join(journal, '1-of-1')).length, 1);
});

test('a run that is recorded in between, and read none of their sessions, takes nothing from shards', async (t) => {
  const nights = await startShardNights(t);
  nights.write(...all.slice(0, 4).map((n) => teaching(n, nights.shop)));
  assert.equal((await nights.shard('1/1')).code, 0);
  const paid = extractions(nights);
  const forgotten = await forgets(nights.dir, ['--thread', 'another-session', '--yes'], at.CTM_CLOCK);
  assert.equal(forgotten.code, 0, forgotten.stderr);
  nights.write(teaching(5, nights.shop));
  assert.equal((await nights.shard('1/1')).code, 0);
  assert.equal(extractions(nights), paid + 1, 'the shard goes on from what it has');
  const night = await nights.night(nights.dir, '--journal', join(nights.dir, '.git/memory/shards'));
  assert.match(night.stderr, /Shards paid for 5 answers/);
  assert.equal(extractions(nights), paid + 1);
});

test('two that read the same part, one of them hostile, give no session another’s words', async (t) => {
  const nights = await startShardNights(t);
  nights.write(...all.slice(0, 4).map((n) => teaching(n, nights.shop)));
  const twin = nights.twin();
  await nights.night(twin);
  const [one, other] = [join(temporaryFolder(t), 'one'), join(temporaryFolder(t), 'other')];
  await nights.shard('1/1', '--journal', one);
  await nights.shard('1/1', '--journal', other);
  // It swaps its answers between the sessions, and claims the keys of them.
  const keys = writtenAnswers(other).map(({ key }) => key);
  bendAnswers(other, (entry) => ({ ...entry, key: keys[(keys.indexOf(entry.key) + 1) % keys.length] }));
  const paid = extractions(nights);
  const night = await nights.night(nights.dir, '--journal', other, '--journal', one);
  assert.equal(night.code, 0, night.stderr);
  assert.equal(extractions(nights), paid + 4, 'each is asked for anew');
  assert.equal(oidsOf(nights.dir), oidsOf(twin));
});

test('a session that grew between its shard and the night is asked for anew', async (t) => {
  const nights = await startShardNights(t);
  nights.write(teaching(1, nights.shop), teaching(2, nights.shop));
  await nights.shard('1/1');
  const grown = teaching(2, nights.shop);
  nights.write({ ...grown, happened: [...grown.happened, { human: 'and never use tabs' }, { says: 'Noted.' }] });
  const before = extractions(nights);
  const night = await nights.night(nights.dir, '--journal', join(nights.dir, '.git/memory/shards'));
  assert.equal(night.code, 0, night.stderr);
  assert.equal(extractions(nights) - before, 1);
  assert.match(git(nights.dir, 'show', 'HEAD:memories/MEMORY.md'), /never use tabs/);
});

for (const [args, what, next] of [
  [['--shard', '0/3'], /--shard does not take “0\/3”/, /such as 2\/5/],
  [['--shard', '4/3'], /--shard does not take “4\/3”/, /such as 2\/5/],
  [['--shard', 'x'], /--shard does not take “x”/, /such as 2\/5/],
  [['--shard', '1/257'], /--shard does not take “1\/257”/, /at most 256/],
  [['--shard', '1/2', '--dry-run'], /neither delivered nor looked at/, /Leave --delivery and --dry-run out/],
  [['--shard', '1/2', '--journal', '.'], /is no folder for a shard’s journal/, /empty or not there yet/],
  [['--journal', 'x'], /--journal says where a part/, /--shard 2\/5/],
  [['--claimed'], /--claimed is for one part/, /--shard 2\/5/],
] as const)
  test(`phase1 ${args.join(' ')}: a usage error that says what to do`, async (t) => {
    const nights = await startShardNights(t);
    const ended = await phase1Here(['--repo', nights.dir, ...args], at);
    assert.equal(ended.code, 2, ended.stderr);
    assert.match(ended.stderr, what);
    assert.match(ended.stderr, next);
    assert.equal(nights.server.requests.length, 0);
  });

test('nightly says where a journal is not, and that --shards is for claim', async (t) => {
  const nights = await startShardNights(t);
  const missing = await nights.night(nights.dir, '--journal', join(nights.dir, 'nowhere'));
  assert.deepEqual([missing.code, /which is not there/.test(missing.stderr)], [2, true]);
  const split = await nights.night(nights.dir, '--shards', '3');
  assert.deepEqual([split.code, /phase1 -- --shard 1\/5/.test(split.stderr)], [2, true]);
});

test('the built-in extractor asks nobody, so a shard has nothing to do and says so', async (t) => {
  const nights = await startShardNights(t);
  nights.write(teaching(1, nights.shop));
  const { code, stdout } = await nights.shard('1/2', '--model', 'builtin', '--json');
  assert.equal(code, 0);
  assert.match(JSON.parse(stdout).why, /asks no model/);
});

test('a refused key ends a shard with its own exit code, and the journal stays as it was', async (t) => {
  const nights = await startShardNights(t);
  nights.write(...all.slice(0, 2).map((n) => teaching(n, nights.shop)));
  nights.use(() => ({ status: 401, error: { message: 'Incorrect API key provided.', type: 'invalid_request_error' } }));
  const refused = await nights.shard('1/1');
  assert.equal(refused.code, 4, refused.stderr);
  nights.use(sound);
  assert.equal((await nights.shard('1/1')).code, 0);
  assert.equal(extractions(nights) >= 3, true);
});

test('with batches there is nothing to split: one hand-over holds all', async (t) => {
  const nights = await startShardNights(t, '  batch: true\n');
  nights.write(teaching(1, nights.shop));
  const { code, stdout } = await nights.shard('1/2');
  assert.equal(code, 0);
  assert.match(stdout, /^Nothing to do: with model\.batch all requests go to the model’s server at once/);
  assert.equal(nights.server.requests.length, 0);
});
