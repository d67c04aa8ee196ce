import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { joined, made } from '../support/secrets.ts';

const redactor = createRedactor({});
const size = 200_000;
const begin = joined('-----BEGIN ', 'PRIVATE KEY-----');

const pieces: readonly string[] = [
  ...[
    'a',
    '=',
    '"',
    '\\',
    '\\n',
    ' ',
    '\u{1f511}',
    'sk-',
    'eyJ',
    'eyJaaaaaaaaa.',
    'key ',
    'mt',
    'ghp_',
    'xoxb-',
    'SG.',
    'AKIA',
  ],
  ...[
    'password',
    'password=',
    '"password":"',
    '\\"password\\":\\"',
    'token=${',
    'token: a[',
    'token: x.',
    'PASSWORD=a.a.',
  ],
  ...[
    'password, ',
    'secret is ',
    '<password>',
    'name: password\n value:',
    'passphrase="a b c d ',
    '[REDACTED_SECRET]password=',
  ],
  ...['-----BEGIN ', '-----END ', begin, `${begin}\n`, `${begin}\nAAAA\n`, joined('-----END ', 'PRIVATE KEY-----')],
  ...[
    '://a:',
    '://a:a',
    'https://aaaa',
    '?sig=',
    'a=b&',
    'Authorization: ',
    'Authorization: Bearer ',
    'authorization: a=b,',
  ],
  ...[
    'authorization=a="',
    'bearer ',
    'cookie: a=b; ',
    'curl -u ',
    'mysql ',
    'docker login ',
    'login a ',
    'x:5432:a:a:',
  ],
  ...[
    'AccountKey=',
    '.atlasv1.',
    'A'.repeat(20),
    'Private-Lines: 1\n',
    "identified by '",
    '[REDACTED_SECRET]',
    '@tcp(',
  ],
];

test('a hostile line of 200,000 characters is read to its end, and once is enough', { timeout: 120_000 }, () => {
  for (const piece of pieces) {
    const text = piece.repeat(Math.ceil(size / piece.length)).slice(0, size);
    const clean = redactor.redact(text);
    assert.equal(redactor.redact(clean) === clean, true, JSON.stringify(piece));
  }
});

test('a secret at the end of a hostile line goes all the same', { timeout: 60_000 }, () => {
  const key = joined('gh', 'p_', made(36));
  for (const piece of ['a', '=', 'eyJ', 'password=', '-----BEGIN ', '://a:', 'sk-'])
    assert.equal(redactor.redact(`${piece.repeat(20_000)} ${key}`).includes(key), false, piece);
});

test('5 MB on one line without a literal come back as they are', { timeout: 60_000 }, () => {
  const text = 'x'.repeat(5_000_000);
  assert.equal(redactor.redact(text) === text, true);
});

test('redacting twice changes nothing, whatever stands together', { timeout: 60_000 }, () => {
  const parts = [
    ...pieces.map((piece) => piece.slice(0, 40)),
    'Zq7',
    ' ',
    '\n',
    "'",
    ',',
    '@h',
    ';',
    made(20),
    made(36),
    ')',
    ': ',
  ];
  let state = 99;
  const next = (bound: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * bound);
  };
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: 2 + next(10) }, () => parts[next(parts.length)] ?? '').join('');
    const clean = redactor.redact(text);
    assert.equal(redactor.redact(clean), clean, JSON.stringify(text));
  }
});
