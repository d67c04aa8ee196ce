import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { findLine, parseQuestion } from '../../scripts/why/question.ts';
import { missText, severalText } from '../../scripts/why/text.ts';
import { handbookPath, memorySummaryPath, rawMemoriesPath } from '../../scripts/workspace/layout.ts';
import { handbookOf } from '../support/line-histories.ts';

const bullets = [
  'Tests are run with `npm test` [k3f7x2ab@12]',
  'Tests are run with `npm test`, never with `jest` alone [k3f7x2ab@13]',
  '测试用 `make check` 运行 [k3f7x2ab@14]',
  'A bullet that\n  goes on here [k3f7x2ab@15]',
];
const files = new Map([
  [handbookPath, handbookOf(bullets)],
  [memorySummaryPath, 'v1\n\n## General Tips\n- Tests are run with `npm test`\n- Only the summary says so\n'],
  [
    'memories/skills/deploy/SKILL.md',
    '---\nname: deploy\ndescription: d\n---\n# Deploy\n- Ask the release captain first\n',
  ],
  [rawMemoriesPath, '# Raw Memories\n\n## Thread `t-1`\nthread: abc\n\n- Tests are run with `npm test` (@12)\n'],
]);
const here = { cwd: '/src/memory/memories', workTree: '/src/memory', files };

test('equal words go before words that hold them, and the handbook before what repeats it', () => {
  assert.equal(placeOf('tests  are run with `NPM test`'), `${handbookPath}:12`);
  assert.equal(
    placeOf('- Tests are run with `npm test` [k3f7x2ab@12]'),
    `${handbookPath}:12`,
    'as it stands in the file',
  );
  assert.equal(placeOf('jest'), `${handbookPath}:13`);
  assert.equal(placeOf('测试用'), `${handbookPath}:14`);
  assert.equal(placeOf('only the summary'), `${memorySummaryPath}:5`);
  assert.equal(placeOf('release captain'), 'memories/skills/deploy/SKILL.md:6');
});

test('words that several lines hold are answered with their places, and how to name one', () => {
  const found = findLine(parseQuestion('run with', here), files);
  assert.equal(found.outcome, 'several');
  if (found.outcome !== 'several') return;
  assert.deepEqual(
    found.lines.map(({ line }) => line),
    [12, 13],
  );
  assert.match(
    severalText(found.lines),
    /^2 lines say this\. .*npm run why -- memories\/MEMORY\.md:12\n {2}memories\/MEMORY\.md:12 {2}- Tests/,
  );
});

test('words that no line holds get the nearest lines', () => {
  const found = findLine(parseQuestion('how are the tests run', here), files);
  assert.equal(found.outcome, 'none');
  if (found.outcome !== 'none') return;
  assert.equal(found.near[0]?.line, 12);
  assert.match(missText(found.near, false), /Nearest:\n {2}memories\/MEMORY\.md:12[\s\S]*--history/);
  const nothing = findLine(parseQuestion('zebra', here), files);
  assert.deepEqual(nothing, { outcome: 'none', near: [] });
});

test('a place is a line of a memory file, named from the root, from memories/, from where one stands, or whole', () => {
  for (const name of [
    'memories/MEMORY.md',
    './memories/MEMORY.md',
    'MEMORY.md',
    './MEMORY.md',
    '/src/memory/memories/MEMORY.md',
  ])
    assert.deepEqual(parseQuestion(`${name}:14`, here), { kind: 'place', path: handbookPath, line: 14 }, name);
  assert.deepEqual(parseQuestion('MEMORY.md:14:3', here), { kind: 'place', path: handbookPath, line: 14 });
  assert.equal(placeOf('MEMORY.md:16'), `${handbookPath}:15`, 'the continuation of a bullet is the bullet');
  assert.equal(placeOf('MEMORY.md:1'), `${handbookPath}:1`);
});

test('words that look like a place are words, unless they name a Markdown file that is none of the memory', () => {
  assert.deepEqual(parseQuestion('listens on localhost:4000', here).kind, 'text');
  assert.deepEqual(parseQuestion('localhost:4000', here).kind, 'text');
  for (const outside of ['../../etc/passwd.md:1', '/etc/hosts.md:1', 'memories/NONE.md:3', 'memories/../README.md:1'])
    assert.throws(() => parseQuestion(outside, here), /There is no memory file/, outside);
  assert.throws(() => parseQuestion('  - ', here), /nothing to look for/);
});

test('a place without words says what is near it, and one beyond the end how long the file is', () => {
  const found = findLine({ kind: 'place', path: handbookPath, line: 10 }, files);
  assert.equal(found.outcome, 'none');
  if (found.outcome === 'none')
    assert.deepEqual(
      found.near.map(({ line }) => line),
      [9, 11],
    );
  assert.throws(
    () => findLine({ kind: 'place', path: handbookPath, line: 99 }, files),
    /no line 99: it ends with line 16/,
  );
  assert.throws(() => findLine({ kind: 'place', path: handbookPath, line: 0 }, files), /no line 0/);
});

test('what a line holds for a terminal to obey is shown, never obeyed', () => {
  const hostile = new Map([[handbookPath, handbookOf(['\u001b[2J\u001b]0;x\u0007 wipe \u202eevil one', 'wipe two'])]]);
  const found = findLine(parseQuestion('wipe', { ...here, files: hostile }), hostile);
  assert.equal(found.outcome, 'several');
  if (found.outcome !== 'several') return;
  const text = severalText(found.lines);
  assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u202e]/);
  assert.match(text, /\\u\{1b\}\[2J.*\\u\{202e\}evil/);
});

function placeOf(text: string): string {
  const found = findLine(parseQuestion(text, { ...here, cwd: join('/src/memory') }), files);
  assert.equal(found.outcome, 'one', text);
  return found.outcome === 'one' ? `${found.line.path}:${found.line.line}` : '';
}
