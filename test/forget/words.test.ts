import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wordsOf } from '../../scripts/forget/words.ts';

const name = 'Halvorsen & "Søn"';

test('words are found in any case and over any white space', () => {
  const words = wordsOf([name]);
  assert.ok(words.stand('of HALVORSEN &\r\n   "SØN", Oslo'));
  assert.ok(words.stand(`of ${name.normalize('NFD')}`), 'composed or not');
  assert.ok(!words.stand('Halvorsen and Søn'));
  assert.ok(!wordsOf([]).stand('anything') && wordsOf(['  ']).isEmpty);
});

test('each form in which a file may hide them is undone', () => {
  const words = wordsOf([name]);
  const formIn = (text: string | Buffer) => words.formIn(Buffer.from(text));
  const json = JSON.stringify({ a: `of ${name}` });
  assert.equal(formIn(`of ${name}.`), 'plain');
  assert.equal(formIn(json), 'json');
  assert.equal(formIn(JSON.stringify({ request: json })), 'json', 'a record within a record');
  assert.equal(formIn('"Halvorsen \\u0026 \\"S\\u00f8n\\""'), 'json');
  assert.equal(formIn(`https://x.test/?q=${encodeURIComponent(name)}`), 'url');
  assert.equal(formIn(`q=${encodeURIComponent(name).replaceAll('%20', '+')}`), 'url');
  const base64 = Buffer.from(`We met ${name} in the evening, and it rained the whole day long.`).toString('base64');
  assert.equal(formIn(base64), 'base64');
  assert.equal(formIn(`x${base64}`), 'base64', 'wherever a run begins');
  assert.equal(formIn(base64.replace(/.{76}/g, '$&\r\n')), 'base64', 'wrapped as in a mail');
  assert.equal(formIn(Buffer.from(json).toString('base64url')), 'base64', 'escaped within');
  assert.equal(formIn(Buffer.from(`of ${name}`, 'utf16le')), 'utf-16');
  assert.equal(formIn('nothing of it: 5d2ce5b06d2d4d1bbd3355c096097c25 %zz \\u12'), null);
});
