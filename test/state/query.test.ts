import assert from 'node:assert/strict';
import test from 'node:test';
import { QueryError } from '../../scripts/state/errors.ts';
import { query } from '../../scripts/state/query.ts';
import { emptyState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { upsertThread } from '../../scripts/state/threads.ts';
import { aThread, withOutput } from '../support/state-rows.ts';

async function aState() {
  const state = await emptyState();
  withOutput(state, 'a');
  upsertThread(state, aThread('b', { author: null }));
  return state;
}

test('a SELECT is answered with its columns and rows', async () => {
  const answer = query(await aState(), 'select thread_id as id, author from threads order by 1');
  assert.deepEqual(answer, {
    columns: ['id', 'author'],
    rows: [
      ['a', 'ada'],
      ['b', null],
    ],
    truncated: false,
  });
});

test('comments, a last semicolon, WITH, VALUES, EXPLAIN and an answer without rows are fine', async () => {
  const state = await aState();
  assert.equal(query(state, '-- who\n/* all */ select 1; -- done').rows.length, 1);
  assert.equal(query(state, 'with t as (select 1 as one) select one from t ;\n').rows[0]?.[0], 1);
  assert.equal(query(state, "values ('x;y')").rows[0]?.[0], 'x;y');
  assert.ok(query(state, 'explain query plan select * from threads').rows.length > 0);
  assert.deepEqual(query(state, 'select title from threads where 0'), {
    columns: ['title'],
    rows: [],
    truncated: false,
  });
  assert.equal(query(state, "select x'00ff'").rows[0]?.[0], '00ff');
});

test('an answer ends at its limit and says so', async () => {
  const state = await aState();
  const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n) select i from n';
  assert.deepEqual(query(state, endless, 2), { columns: ['i'], rows: [[1], [2]], truncated: true });
  assert.equal(query(state, 'select 1', 1).truncated, false);
});

test('nothing that a person types changes the state', async () => {
  const state = await aState();
  const before = snapshotOf(state);
  const attempts = [
    'delete from threads',
    'DROP TABLE threads',
    'with t as (select 1) delete from threads',
    "with t as (select 'x') insert into meta select 'k', 'v'",
    'select 1; delete from threads',
    'pragma query_only = off',
    "attach 'other.db' as other",
    "vacuum into 'copy.db'",
    'begin',
    'select nonsense from threads',
    'selec 1',
    'select (',
    '',
    ' ;; -- nothing',
    '/* never closed',
  ];
  for (const attempt of attempts) assert.throws(() => query(state, attempt), QueryError, attempt);
  assert.equal(snapshotOf(state), before);
  upsertThread(state, aThread('c'));
  assert.equal(query(state, 'select count(*) from threads').rows[0]?.[0], 3, 'the state itself can still be written');
});

test('a refusal says what is wrong and what to try', async () => {
  const state = await aState();
  assert.throws(() => query(state, 'delete from threads'), { message: /Only SELECT/, hint: /select thread_id/ });
  assert.throws(() => query(state, 'with t as (select 1) delete from threads'), { message: /would change/ });
  assert.throws(() => query(state, 'select nonsense from threads'), { message: /no such column: nonsense/ });
  assert.throws(() => query(state, 'select 1; select 2'), { message: /one statement/ });
});
