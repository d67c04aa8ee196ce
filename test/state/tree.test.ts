import assert from 'node:assert/strict';
import test from 'node:test';
import { StateTreeError } from '../../scripts/state/errors.ts';
import {
  emptyNightRecord,
  formatNightRecord,
  type NightRecord,
  parseNightRecord,
} from '../../scripts/state/night-record.ts';
import { filesOfTree, type StateTree, treeOfFiles } from '../../scripts/state/tree.ts';

const oid = 'ab'.repeat(20);

const aRecord: NightRecord = {
  recordedTips: { 'refs/heads/main': oid, 'refs/heads/memory/nightly': oid },
  pendingPush: { runId: 'run-1', ref: 'refs/heads/memory/nightly', oldOid: null, tip: oid },
  pullRequest: { number: 7, url: 'https://host/acme/shop/pull/7' },
  defaultBranchOid: 'cd'.repeat(32),
  startedRun: { runId: 'run-1', startedAt: 100, threads: ['a', 'b'], allowanceTokens: 5000 },
  batches: [],
  lastRun: { runId: 'run-0', finishedAt: 50 },
};

function aTree(given: Partial<StateTree> = {}): StateTree {
  const files = new Map([['memories/MEMORY.md', '# Task Group: tests\n']]);
  const scopes = new Map([['github.com/acme/shop', files]]);
  return {
    text: '{}\n',
    night: aRecord,
    baseline: scopes,
    reviewed: scopes,
    closed: new Map([['7', scopes]]),
    ...given,
  };
}

test('a tree comes back from its files, whatever its scopes are called', () => {
  const scopes = [
    'github.com/acme/shop',
    '*',
    'local:0123456789ab',
    'none',
    '.',
    '..',
    '.git',
    'a%b',
    'größer ort',
    '~x',
  ];
  const baseline = new Map(scopes.map((scope) => [scope, new Map([['memories/skills/x/SKILL.md', scope]])]));
  const tree = aTree({ baseline });
  const files = filesOfTree(tree);
  assert.deepEqual(treeOfFiles(files), tree);
  for (const path of files.keys())
    assert.match(path, /^[^/]+(\/[^/.*][^/*]*)*$/, 'no part is hidden, `..` or a pattern');
  assert.equal(files.get('baseline/%2A/memories/skills/x/SKILL.md'), '*');
});

test('equal trees are equal files, in whatever order they were put together', () => {
  const one = new Map([
    [
      'x',
      new Map([
        ['p', '1'],
        ['q', '2'],
      ]),
    ],
    ['y', new Map([['p', '3']])],
  ]);
  const other = new Map([
    ['y', new Map([['p', '3']])],
    [
      'x',
      new Map([
        ['q', '2'],
        ['p', '1'],
      ]),
    ],
  ]);
  const entries = (baseline: StateTree['baseline']) => [...filesOfTree(aTree({ baseline }))];
  assert.deepEqual(entries(one), entries(other));
});

test('a tree without its state or its record, or with a path that nobody wrote, is refused', () => {
  const files = filesOfTree(aTree());
  const without = (path: string) => new Map([...files].filter(([name]) => name !== path));
  assert.throws(() => treeOfFiles(without('state.sqlite.json')), /holds no state.sqlite.json/);
  assert.throws(() => treeOfFiles(without('night.json')), /holds no night.json/);
  const odd = ['notes.md', 'baseline', 'baseline/x', 'baseline/%/a', 'baseline/a*b/c', 'closed/7/x', 'other/x/y'];
  for (const path of odd) assert.throws(() => treeOfFiles(new Map([...files, [path, '']])), StateTreeError, path);
});

test('a night’s record comes back, and equal ones are equal texts', () => {
  assert.deepEqual(parseNightRecord(formatNightRecord(aRecord)), aRecord);
  assert.deepEqual(parseNightRecord(formatNightRecord(emptyNightRecord)), emptyNightRecord);
  const { 'refs/heads/main': main = '', ...rest } = aRecord.recordedTips;
  const reordered = { ...aRecord, recordedTips: { ...rest, 'refs/heads/main': main } };
  assert.equal(formatNightRecord(reordered), formatNightRecord(aRecord));
});

test('a record of a newer version is refused with the way to update', () => {
  const newer = formatNightRecord(aRecord).replace('"format": 1', '"format": 2');
  assert.throws(() => parseNightRecord(newer), { message: /format 2/, hint: /Update/ });
  const extended = formatNightRecord(aRecord).replace('"format": 1', '"format": 1, "moon": "full"');
  assert.throws(() => parseNightRecord(extended), { message: /unknown field moon/, hint: /Update/ });
});

test('each field of a record that is wrong is named', () => {
  const text = formatNightRecord(aRecord);
  const cases: [string, RegExp][] = [
    ['', /no valid JSON/],
    ['[]', /the file should be an object/],
    ['{}', /format should be/],
    [text.replace('"format": 1', '"format": "1"'), /format should be/],
    [text.replace(`main": "${oid}"`, 'main": "HEAD"'), /recordedTips.refs\/heads\/main should be a commit id/],
    [text.replace('"oldOid": null', '"oldOid": 5'), /pendingPush.oldOid should be a commit id/],
    [text.replace('"number": 7', '"number": 7.5'), /pullRequest.number should be an integer/],
    [text.replace('"threads": [', '"threads": [3,'), /startedRun.threads should be a text/],
    [text.replace(/"lastRun": \{[^}]*\}/, '"lastRun": []'), /lastRun should be an object/],
    [text.replace('"finishedAt": 50', '"finishedAt": 50, "x": 1'), /lastRun has an unknown field x/],
  ];
  for (const [damaged, reason] of cases) assert.throws(() => parseNightRecord(damaged), { message: reason }, damaged);
});
