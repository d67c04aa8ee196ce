import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { documentOf } from '../../scripts/rollout/document.ts';
import { textBeside, wholeFile } from '../../scripts/rollout/whole-file.ts';
import { temporaryFolder } from '../support/repository.ts';

const whole = {
  info: { id: 'a', title: 'a "messages": [ in a text, and \\', nested: { messages: [1] } },
  messages: [{ n: 1, text: 'brackets ]} and a quote \\" in it' }, { n: 2, list: [{ a: [] }] }, { n: 3 }],
  after: true,
};

test('a document that is cut anywhere gives the messages that are whole, and never one that is not', () => {
  for (const text of [JSON.stringify(whole), JSON.stringify(whole, null, 2)]) {
    const start = text.search(/"messages":\s*\[\s*\{/);
    let most = 0;
    for (let length = 1; length < text.length; length += 1) {
      const found = documentOf(text.slice(0, length));
      if (found === null) {
        assert.ok(length < start + '"messages": ['.length, String(length));
        continue;
      }
      assert.deepEqual(found.fields, { info: whole.info });
      assert.deepEqual(found.messages, whole.messages.slice(0, found.messages.length));
      assert.ok(found.isCut && found.messages.length >= most);
      most = found.messages.length;
    }
    assert.equal(most, 3);
    assert.deepEqual(documentOf(text), { fields: whole, messages: whole.messages, isCut: false });
  }
});

test('what is no object, or has no messages, is no document with messages', () => {
  for (const text of ['', '[]', '[{"messages":[]}]', 'null', '"{"', 'words { "messages": [] }', '{"messages":[}', '}{'])
    assert.ok((documentOf(text)?.messages ?? []).length === 0, text);
  assert.deepEqual(documentOf('Exporting…\n\ufeff{"messages":7}')?.messages, []);
});

test('a file is read whole up to a bound, and not through a link; where there is none there is no text', (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'a');
  writeFileSync(path, 'four');
  symlinkSync(path, join(folder, 'link'));
  mkdirSync(join(folder, 'folder'));
  assert.equal(wholeFile(path, 4)?.toString(), 'four');
  assert.equal(wholeFile(path, 3), null);
  assert.throws(() => wholeFile(join(folder, 'link'), 9), /ELOOP/);
  assert.throws(() => wholeFile(join(folder, 'none'), 9), /ENOENT/);
  assert.equal(textBeside(path, 9), 'four');
  for (const name of ['none', 'link', 'folder', 'a/b']) assert.equal(textBeside(join(folder, name), 9), null, name);
});
