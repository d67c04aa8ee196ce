import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { aMemory } from '../support/memories.ts';
import { command, tips } from '../support/nights.ts';
import { aRepository, commitAll, git } from '../support/repository.ts';

test('a query is answered as a table, as JSON and as CSV, and an answer that is cut says so', async (t) => {
  const repo = await aMemory(t);
  const sql = 'select agent, count(*) as n from threads group by agent';
  const [table, json, csv, cut] = await Promise.all([
    command('sql', ['--repo', repo, sql]),
    command('sql', ['--repo', repo, sql, '--json']),
    command('sql', ['--repo', repo, sql, '--csv']),
    command('sql', ['--repo', repo, 'select thread_id from threads', '--limit', '2']),
  ]);
  assert.deepEqual([table.code, json.code, csv.code, cut.code], [0, 0, 0, 0]);
  assert.match(table.stdout, /^agent +n\n-+\ncodex +\d+\n\(1 row\)\n$/);
  const { rows, ...rest } = JSON.parse(json.stdout);
  assert.deepEqual(rest, { columns: ['agent', 'n'], truncated: false });
  assert.equal(csv.stdout, `agent,n\r\ncodex,${rows[0][1]}\r\n`);
  assert.match(cut.stdout, /\(2 rows\)/);
  assert.match(cut.stderr, /first 2 rows .*--limit/);
});

test('without a query the tables are listed with an example', async (t) => {
  const repo = await aMemory(t);
  const { code, stdout } = await command('sql', ['--repo', repo]);
  assert.equal(code, 0);
  assert.match(stdout, /^threads +\d+ +thread_id, short_id/m);
  assert.match(stdout, /^usage \(view\)/m);
  assert.match(stdout, /^Try: npm run sql -- "select /m);
});

test('what would write, several statements, bad SQL and wrong flags are usage errors that change nothing', async (t) => {
  const repo = await aMemory(t);
  const before = tips(repo);
  const cases: [string[], RegExp][] = [
    [['delete from threads'], /Only SELECT/],
    [['with t as (select 1) delete from threads'], /would change the state/],
    [['select 1; select 2'], /one statement at a time/],
    [['select colour from threads'], /no such column: colour/],
    [['select 1', '--limit', '0'], /--limit does not take “0”/],
    [['select 1', '--json', '--csv'], /exclude each other/],
  ];
  await Promise.all(
    cases.map(async ([args, message]) => {
      const { code, stdout, stderr } = await command('sql', ['--repo', repo, ...args]);
      assert.deepEqual([code, stdout], [2, ''], args[0]);
      assert.match(stderr, message);
    }),
  );
  assert.deepEqual(tips(repo), before);
});

test('the state is read from its ref, without it from the published copy; a damaged one names its way back', async (t) => {
  const repo = await aMemory(t);
  const count = ['--repo', repo, '--csv', 'select count(*) from threads'];
  const ofRef = await command('sql', count);
  git(repo, 'update-ref', '-d', 'refs/memory/state');
  const published = await command('sql', count);
  assert.deepEqual([published.code, published.stdout], [0, ofRef.stdout]);
  const path = join(repo, 'state.sqlite.json');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace(/"schema":\d+/, '"schema":999'));
  commitAll(repo, 'From the future');
  const newer = await command('sql', count);
  assert.equal(newer.code, 1);
  assert.match(newer.stderr, /line 1: schema 999 .*newer[\s\S]*git pull/);
  writeFileSync(path, text.replace(/^\["/m, '{"'));
  commitAll(repo, 'Damage');
  const damaged = await command('sql', count);
  assert.equal(damaged.code, 1);
  assert.match(damaged.stderr, /state\.sqlite\.json, line \d+: [\s\S]*git checkout <last good>/);
});

test('before the first night every table is empty, and the command says so', async (t) => {
  const { code, stdout, stderr } = await command('sql', ['--repo', aRepository(t), '--json', 'select * from threads']);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout).rows, []);
  assert.match(stderr, /No night has run here/);
});
