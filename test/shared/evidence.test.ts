import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatSuperseded,
  parseEvidence,
  parseSuperseded,
  replaceSuperseded,
  withoutEvidence,
} from '../../scripts/shared/evidence.ts';

const line = '- Port 4000 (supersedes k3f7x2ab@88,91 m2p7c4dw@2:7) [abcdefgh@12]';

test('what a line supersedes is no evidence of it, and none of its words', () => {
  assert.deepEqual(parseEvidence(line), [{ thread: 'abcdefgh', items: ['12'] }]);
  const marks = [
    { thread: 'k3f7x2ab', items: ['88', '91'] },
    { thread: 'm2p7c4dw', items: ['2:7'] },
  ];
  assert.deepEqual(parseSuperseded(line), marks);
  assert.equal(withoutEvidence(line), '- Port 4000');
  assert.equal(formatSuperseded(marks), '(supersedes k3f7x2ab@88,91 m2p7c4dw@2:7)');
  assert.equal(formatSuperseded([]), '');
});

test('what only looks like such a mark is words', () => {
  for (const text of [
    '(supersedes the old one)',
    '(supersedes k3f7x2ab)',
    '(supersedes [k3f7x2ab@8])',
    'supersedes k3f7x2ab@8',
  ])
    assert.deepEqual(parseSuperseded(`- x ${text}`), [], text);
});

test('marks are replaced, and the space before one goes with it', () => {
  assert.equal(
    replaceSuperseded(line, () => ''),
    '- Port 4000 [abcdefgh@12]',
  );
  assert.equal(
    replaceSuperseded(line, (marks) => formatSuperseded(marks.slice(1))),
    '- Port 4000 (supersedes m2p7c4dw@2:7) [abcdefgh@12]',
  );
  assert.equal(
    replaceSuperseded('- nothing', () => 'x'),
    '- nothing',
  );
});
