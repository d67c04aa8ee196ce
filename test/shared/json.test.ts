import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonFields, parsedJson } from '../../scripts/shared/json.ts';

test('what is no JSON is undefined, which no JSON is', () => {
  for (const text of ['', '{', '{"a":1', 'x', '\ufeff{}', "{'a':1}"]) assert.equal(parsedJson(text), undefined, text);
  assert.equal(parsedJson('null'), null);
  assert.deepEqual(parsedJson('[1]'), [1]);
});

test('only an object has fields', () => {
  for (const text of ['', 'null', '1', '"a"', '[1]', '{']) assert.deepEqual(jsonFields(text), {}, text);
  assert.deepEqual(jsonFields('{"a":null,"b":[1]}'), { a: null, b: [1] });
});

test('a field named __proto__ is a field, and no prototype', () => {
  const fields = jsonFields('{"__proto__":{"agent":"x"}}');
  assert.equal(fields.agent, undefined);
  assert.deepEqual(Object.keys(fields), ['__proto__']);
});
