import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linesOf, recordLines, recordRemoved, removedOf } from '../../scripts/state/lines.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';

test('a line that was taken out is nobody’s until a person puts it back; a person’s own stays theirs', async () => {
  const state = await emptyState();
  const scope = 'github.com/acme/shop';
  const whose = () => linesOf(state, scope).map(({ hash, who, since }) => `${hash} ${who} ${since}`);
  recordRemoved(state, [{ scope, hash: 'a', since: 1 }]);
  assert.deepEqual([whose(), [...removedOf(state, scope)]], [[], ['a']]);
  assert.equal(recordLines(state, [{ scope, hash: 'a', who: 'person', since: 2 }]), 1);
  assert.deepEqual([whose(), [...removedOf(state, scope)]], [['a person 2'], []]);
  recordRemoved(state, [{ scope, hash: 'a', since: 3 }]);
  assert.deepEqual(whose(), ['a person 2']);
  assert.equal(recordLines(state, [{ scope, hash: 'a', who: 'person', since: 4 }]), 0, 'known already');
});
