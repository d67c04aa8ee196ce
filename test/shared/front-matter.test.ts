import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFrontMatter } from '../../scripts/shared/front-matter.ts';

test('front matter is split from the body, with the lines of both', () => {
  const read = parseFrontMatter('---\nname: a-b\ndescription: "says: when"\n---\n# Body\n');
  assert.ok(read.outcome === 'read');
  assert.deepEqual(read.data, { name: 'a-b', description: 'says: when' });
  assert.equal(read.body, '# Body\n');
  assert.equal(read.bodyLine, 5);
  assert.equal(read.lineOf('description'), 3);
  assert.equal(read.present, true);
});

test('a text without front matter is all body', () => {
  for (const text of ['# Body\n', '', '----\nrule\n----\n', ' ---\na: 1\n---\n']) {
    const read = parseFrontMatter(text);
    assert.ok(read.outcome === 'read');
    assert.deepEqual([read.present, read.data, read.body], [false, {}, text]);
  }
});

test('no language but YAML is ever run or read', () => {
  const global = globalThis as Record<string, unknown>;
  for (const language of ['js', 'JS', 'javascript', ' js', 'json', 'coffee', 'toml', 'constructor', '__proto__']) {
    const wrong = parseFrontMatter(`---${language}\n{ a: (globalThis.ranFrontMatter = 1) }\n---\nbody\n`);
    assert.equal(wrong.outcome, 'wrong', language);
  }
  assert.equal(global.ranFrontMatter, undefined);
});

test('CRLF gives the same values as LF', () => {
  const read = parseFrontMatter('\uFEFF---\r\nname: a\r\n---\r\nbody\r\n');
  assert.ok(read.outcome === 'read');
  assert.deepEqual(read.data, { name: 'a' });
  assert.equal(read.body, 'body\n');
});

test('a scalar, a list, bad YAML, aliases and a missing end are mistakes with their line', () => {
  const cases: [string, number][] = [
    ['---\njust words\n---\n', 2],
    ['---\n- a\n- b\n---\n', 2],
    ['---\n42\n---\n', 2],
    ['---\na: 1\na: 2\n---\n', 3],
    ['---\na: &x [1]\nb: *x\n---\n', 3],
    ['---\na: 1\n', 1],
    ['---\na: 1\n---b\nbody\n', 3],
  ];
  for (const [text, line] of cases) {
    const wrong = parseFrontMatter(text);
    assert.ok(wrong.outcome === 'wrong', text);
    assert.equal(wrong.line, line, text);
  }
});

test('a mistake is told every time, and no caller changes what the next one reads', () => {
  const bad = '---\na: [1\n---\nbody\n';
  assert.deepEqual(parseFrontMatter(bad), parseFrontMatter(bad));
  assert.equal(parseFrontMatter(bad).outcome, 'wrong');
  const good = '---\na: 1\n---\nbody\n';
  const first = parseFrontMatter(good);
  assert.ok(first.outcome === 'read');
  (first.data as Record<string, unknown>).a = 'changed';
  const second = parseFrontMatter(good);
  assert.ok(second.outcome === 'read');
  assert.equal(second.data.a, 1);
});

test('empty front matter is an empty record', () => {
  for (const text of ['---\n---\nbody\n', '---\n# only a comment\n---\nbody\n']) {
    const read = parseFrontMatter(text);
    assert.ok(read.outcome === 'read', text);
    assert.deepEqual(read.data, {});
    assert.equal(read.body.trim(), 'body');
  }
});
