import assert from 'node:assert/strict';
import test from 'node:test';
import { NewerSnapshotError } from '../../scripts/state/errors.ts';
import { type CopyChoice, laterCopy } from '../../scripts/state/later-copy.ts';
import { emptyState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { liftTombstone, setTombstone } from '../../scripts/state/tombstones.ts';
import { aCopy } from '../support/state-copies.ts';
import { dayAt } from '../support/state-rows.ts';

/** Both ways round: whose copy is called ours must not matter. */
async function choiceOf(ours: string, theirs: string): Promise<CopyChoice> {
  const [choice, mirrored] = [await laterCopy(ours, theirs), await laterCopy(theirs, ours)];
  const other = { ours: 'theirs', theirs: 'ours' } as const;
  assert.equal(mirrored.keep, choice.keep && (ours === theirs ? choice.keep : other[choice.keep]));
  return choice;
}

test('the copy with the later night wins, however little is in it', async () => {
  const early = await aCopy({ nights: [dayAt(1), dayAt(2)], threads: ['a', 'b', 'c'] });
  const late = await aCopy({ nights: [dayAt(3)] });
  const expected = { keep: 'theirs', because: 'later_night', lastNight: dayAt(3) + 60 };
  assert.deepEqual(await choiceOf(early, late), expected);
  assert.equal((await choiceOf(await aCopy({}), early)).keep, 'theirs');
});

test('of two copies of the same night, the one in which something was forgotten or shown again later wins', async () => {
  const plain = await aCopy({ nights: [dayAt(1)], threads: ['b'] });
  const forgotten = await aCopy({ nights: [dayAt(1)], forgotten: { a: dayAt(2) } });
  assert.deepEqual(await choiceOf(plain, forgotten), { keep: 'theirs', because: 'later_tombstone' });
  const lifted = await emptyState();
  const tombstone = { kind: 'thread', key: 'a', reason: 'x', runId: null, pullRequest: null, setAt: dayAt(1) } as const;
  setTombstone(lifted, tombstone);
  liftTombstone(lifted, 'thread', 'a', dayAt(3));
  const noNight = await aCopy({ forgotten: { a: dayAt(2) } });
  assert.deepEqual(await choiceOf(snapshotOf(lifted), noNight), { keep: 'ours', because: 'later_tombstone' });
});

test('a tie is broken by the texts alone', async () => {
  const [a, b] = [await aCopy({ nights: [dayAt(1)], threads: ['a'] }), await aCopy({ nights: [dayAt(1)] })];
  assert.equal((await choiceOf(a, b)).keep, a > b ? 'ours' : 'theirs');
  assert.deepEqual(await choiceOf(a, a), { keep: 'ours', because: 'equal' });
});

test('a damaged copy loses to any that can be read, and two damaged ones leave the choice to a person', async () => {
  const good = await aCopy({});
  const late = await aCopy({ nights: [dayAt(3)], threads: ['a'] });
  const damaged = {
    empty: '',
    conflict: late.replace(/^"runs"/m, '<<<<<<< ours\n"runs"'),
    cut: late.slice(0, late.length / 2),
    twice: late.replace(/^(\["a".*\])$/m, '$1,\n$1'),
  };
  for (const [what, text] of Object.entries(damaged)) {
    const choice = await choiceOf(text, good);
    assert.ok(choice.keep === 'theirs' && choice.because === 'damaged', what);
    assert.ok(choice.fault.line >= 1, what);
  }
  const neither = await choiceOf(damaged.cut, damaged.conflict);
  assert.ok(neither.keep === null);
  assert.match(neither.faults.theirs.reason, /conflict/);
});

test('where a newer version wrote a copy, nobody here decides', async () => {
  const good = await aCopy({ nights: [dayAt(3)] });
  const newer = good.replace(/"schema":\d+/, '"schema":9999');
  await assert.rejects(laterCopy(good, newer), NewerSnapshotError);
  await assert.rejects(laterCopy(newer, 'damaged'), NewerSnapshotError);
});
