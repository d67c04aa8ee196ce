import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedactor } from '../../scripts/shared/redact.ts';

const gone = '[REDACTED_SECRET]';
const value = 'blue horse "9" & plums/ü';
const redactor = createRedactor({
  BUILD_TOKEN: value,
  EMPTY_TOKEN: undefined,
  SHORT_TOKEN: 'seven77',
  KEY_FILE: '/home/dana/keys/build.pem',
  SIGNING_KEY: '/home/dana/keys/build.pem',
  MODE_TOKEN: 'production',
  HOME: '/home/dana-the-developer',
  EDITOR: 'visual-studio-code',
});

test('the value of a secret-looking variable goes wherever it stands', () => {
  assert.equal(redactor.redact(`it said ${value}!`), `it said ${gone}!`);
  assert.deepEqual(redactor.redactCounted(value).counts, { environment: 1 });
});

test('it goes in JSON, in JSON within JSON and in a URL', () => {
  const json = JSON.stringify({ said: value });
  assert.equal(redactor.redact(json), JSON.stringify({ said: gone }));
  assert.equal(redactor.redact(JSON.stringify(json)), JSON.stringify(JSON.stringify({ said: gone })));
  assert.equal(redactor.redact(`/x?q=${encodeURIComponent(value)}&r=1`), `/x?q=${gone}&r=1`);
});

test('it goes in base64, whatever stands around it there', () => {
  for (const around of ['', 'a', 'ab', 'abc']) {
    const encoded = Buffer.from(`${around}${value}${around}`).toString('base64');
    const clean = redactor.redact(encoded);
    assert.ok(clean.includes(gone), around);
    assert.equal(Buffer.from(clean.replace(gone, ''), 'base64').toString('latin1').includes('horse'), false);
  }
});

test('short values, paths, common words and harmless names stay', () => {
  const text = 'seven77 /home/dana/keys/build.pem production /home/dana-the-developer visual-studio-code';
  assert.equal(redactor.redact(text), text);
});

test('the version tells of the rules, not of the environment', () => {
  assert.equal(redactor.version, createRedactor({}).version);
  assert.match(redactor.version, /^[0-9a-f]{12}$/);
});
