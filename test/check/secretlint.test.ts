import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { auditFiles, auditSecrets } from '../../scripts/check/secretlint.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { base32, base64, digits, joined, made } from '../support/secrets.ts';

const redactor = createRedactor({});
const privateKeyEncoding = { type: 'pkcs8', format: 'pem' } as const;
const publicKeyEncoding = { type: 'spki', format: 'pem' } as const;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048, privateKeyEncoding, publicKeyEncoding }).privateKey;
const rsa1 = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
  publicKeyEncoding,
}).privateKey;
const ec = generateKeyPairSync('ec', {
  namedCurve: 'prime256v1',
  privateKeyEncoding: { type: 'sec1', format: 'pem' },
  publicKeyEncoding,
}).privateKey;

/** Each alone is a finding for secretlint. */
const leaks: readonly string[] = [
  rsa,
  rsa1,
  `AWS_SECRET_ACCESS_KEY = "${made(40, base64)}"`,
  joined('gh', 'p_', made(36)),
  joined('github', '_pat_', made(82)),
  joined('xo', 'xb-', made(12, digits), '-', made(12, digits), '-', made(24)),
  joined('https://hooks.slack.com/ser', 'vices/T', made(9, base32), '/B', made(9, base32), '/', made(24)),
  joined('np', 'm_', made(36)),
  joined('sk-', 'proj-', made(74), 'T3Blbk', 'FJ', made(74)),
  joined('sk-', 'ant-', 'api03-', made(93), 'AA'),
  joined('lin', '_api_', made(40)),
  joined('S', 'G.', made(22), '.', made(43)),
  joined('shp', 'at_', made(32)),
  joined(
    'ops',
    '_',
    Buffer.from(JSON.stringify({ signInAddress: 'my.1password.com', userAuth: made(122) })).toString('base64'),
  ),
  joined('https://bob:', made(12), '@db.internal.io/x'),
  joined('postgres://deploy:', made(12), '@db.internal.io/app'),
  joined('mongodb+srv://deploy:', made(12), '@db.internal.io/app'),
];

test('secretlint finds each of the genuine kinds of secret', async () => {
  for (const leak of leaks)
    assert.notEqual((await auditSecrets('notes.md', `x\n${leak}\n`)).length, 0, leak.slice(0, 30));
});

test('and nothing is left for it once they went through the redactor, as text and as a serialised line', async () => {
  const corpus = [...leaks, ec, joined('//registry.example/:_auth', 'Token=', made(36))]
    .map((leak, index) => `${index}: it printed\n${leak}\nand went on`)
    .join('\n');
  for (const text of [corpus, JSON.stringify({ corpus }), JSON.stringify(JSON.stringify({ corpus })), ...leaks])
    for (const name of ['notes.md', '.npmrc']) assert.deepEqual(await auditSecrets(name, redactor.redact(text)), []);
});

test('a finding says where and never shows the secret', async () => {
  const key = joined('gh', 'p_', made(36));
  const [finding] = await auditSecrets('notes.md', `a token: ${key}\n`);
  assert.deepEqual([finding?.rule, finding?.start, finding?.end], ['github', 9, 49]);
  assert.equal(finding?.message.includes(key), false);
});

test('comments in the audited text cannot turn secretlint off', async () => {
  const text = `<!-- secretlint-disable -->\n${joined('gh', 'p_', made(36))}\n`;
  assert.equal((await auditSecrets('notes.md', text)).length, 1);
});

test('our placeholder in place of a password is no finding', async () => {
  assert.deepEqual(
    await auditSecrets('.npmrc', '_authToken=[REDACTED_SECRET]\npostgres://a:[REDACTED_SECRET]@h.io/x\n'),
    [],
  );
});

test('files that are judged together have the findings that each has alone, at the same places', async () => {
  const texts = leaks.map((leak, index) => [`${index}.md`, `${'x\n'.repeat(index)}${leak}`] as const);
  const files = new Map([...texts, ['clean.md', 'Nothing.\n'], ['state.json', `["${leaks[3]}"]`]]);
  const together = await auditFiles(files);
  for (const [path, text] of files) {
    const alone = [...(await auditSecrets(path, text))];
    const inOrder = (findings: readonly { rule: string; start: number; end: number }[]) =>
      findings.map(({ rule, start, end }) => `${rule} ${start} ${end}`).sort();
    assert.deepEqual(inOrder(together.get(path) ?? []), inOrder(alone), path);
  }
});
