import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { alnum, hex, joined, made } from '../support/secrets.ts';

const redactor = createRedactor({});
const gone = '[REDACTED_SECRET]';
const pass = joined('hunter2', 'hunter2');
const token = made(24);

/** What stands before the secret, the secret, what stands after it. */
const places: Readonly<Record<string, readonly (readonly [before: string, secret: string, after: string])[]>> = {
  'an assignment of a configuration file': [
    ['DB_PASSWORD=', joined('let', 'mein'), ''],
    ['export PGPASSWORD=', pass, '\nnext=plain'],
    ['A=1\r\nSMTP_PASS=', 'p@ss,w0rd;&x', '\r\nB=2'],
    ['spring.datasource.password=', joined('let', 'mein'), '\n'],
    ['aws_secret_access_key = ', made(40), ''],
    ['SESSION_KEY="', token, '"'],
    ['TF_VAR_db_password="', 'Xyz#123!', '"'],
    ['//registry.example/:_authToken=', token, ''],
    ['      - POSTGRES_PASSWORD=', pass, ''],
    ['Server=db;User Id=sa;Password=', pass, ';Database=x'],
    ['password="', 'p@ss word1', '"'],
    ['RUN echo; ENV API_TOKEN=', token, ''],
  ],
  'JSON, YAML, XML and source text': [
    ['{"apikey": "', made(20, hex), '"}'],
    ['{"user":"bob","password":"', pass, '","n":1}'],
    ['password: ', pass, '\nuser: bob'],
    ["  clientSecret: '", token, "',"],
    ['const token: string = "', token, '";'],
    ['config["password"] = "', pass, '";'],
    [":password => '", pass, "'"],
    ['<password>', pass, '</password>'],
    ['{"name":"DB_PASSWORD","value":"', pass, '"}'],
    ['- name: DB_PASSWORD\n  value: ', pass, '\n'],
    ['the admin password is ', joined('hunter2', '-fake'), '.'],
    ["ALTER USER x WITH PASSWORD '", pass, "'"],
    ["CREATE USER x IDENTIFIED BY '", pass, "'"],
    ['{"secretAccessKey":"', made(40), '"}'],
    ['passphrase: "', 'correct horse battery staple', '"'],
  ],
  'a serialised line': [
    [String.raw`{\"password\":\"`, pass, String.raw`\"}`],
    [String.raw`{\\\"password\\\":\\\"`, pass, String.raw`\\\"}`],
    ['{"out":"SECRET_TOKEN=', token, String.raw`\nNEXT=plain"}`],
    [String.raw`"A=1\nDB_PASSWORD=`, pass, String.raw`\r\nB=2"`],
    ['"Authorization: Bearer ', token, String.raw`\nAccept: x"`],
    ['"password":"', String.raw`a\"b1c2d3`, '"'],
    ['%22password%22%3A%22', pass, '%22'],
  ],
  'a command line': [
    ['tool --password=', pass, ' -v'],
    ['tool --password ', pass, ' -v'],
    ['tool --api-key ', token, ''],
    ['curl -u bob:', joined('sword', 'fish'), ' https://h'],
    ["curl --user 'bob:", pass, "' https://h"],
    ['sshpass -p ', pass, ' ssh h'],
    ['mysql -u root -p', pass, ' db'],
    ['redis-cli -h h -a ', pass, ' ping'],
    ['docker login -u bob -p ', pass, ' registry.example'],
    ['bob:', pass, '@tcp(127.0.0.1:3306)/db'],
  ],
  'a header': [
    ['Authorization: Bearer ', token, ''],
    ['curl -H "Authorization: Bearer ', token, '"'],
    ['Authorization: Basic ', 'dXNlcjpwYXNz', ''],
    ['authorization: Custom ', made(12), '\r\nAccept: x'],
    ['Authorization: ', token, ''],
    ['{"Authorization":"Token ', token, '"}'],
    ['Proxy-Authorization: Digest ', 'username="bob", realm="x", response="0a1b2c3d4e5f"', '\n'],
    [
      String.raw`{\"authorization\":\"AWS4-HMAC-SHA256 `,
      'Credential=x/2026/us, SignedHeaders=host, Signature=0a1b2c3d',
      String.raw`\"}`,
    ],
    ["curl -H 'x-api-key: ", made(12), "'"],
    ['X-Vault-Token: ', 's.abcdefgh1234', ''],
    ['it sent bearer ', token, ' twice'],
    ['Cookie: ', `session=${token}; theme=dark`, '\n'],
  ],
  'an address': [
    ['postgres://deploy:', 'pw', '@h/db'],
    ['postgres://deploy:', 'p/w#x', '@h.example/db'],
    ['postgres://deploy:', 'p@w', '@h.example/db'],
    ['redis://:', pass, '@cache:6379/0'],
    ['https://', token, '@host/x.git'],
    ['amqp+ssl://bob:', pass, '@h'],
    ['https://x.example/c?sv=2024&sig=', 'aB3%2Fd8Ee%3D', '&se=1'],
    ['https://h/cb?access_token=', made(12), '&x=1'],
    ['https://h/x?X-Amz-Signature=', made(64, hex), ''],
    [String.raw`"https://h/x?a=1\u0026token=`, made(12), '"'],
    ['jdbc:postgresql://h/db?user=u&password=', 'letmein1', ''],
  ],
  'a credentials file': [
    ['machine h.example login bob password ', joined('sword', 'fish'), ''],
    ['machine h.example\n  login bob\n  password ', joined('sword', 'fish'), '\n'],
    [String.raw`"machine h.example\n  login bob\n  password `, joined('sword', 'fish'), String.raw`\n"`],
    ['db:5432:app:bob:', joined('sword', 'fish'), ''],
  ],
};

for (const [place, cases] of Object.entries(places))
  test(`a secret in ${place} goes, and what stands around it stays`, () => {
    for (const [before, secret, after] of cases)
      assert.equal(redactor.redact(before + secret + after), before + gone + after);
  });

const jwt = joined('ey', 'J', made(17), '.ey', 'J', made(40), '.', made(43));

test('a JSON web token goes, signed or not', () => {
  assert.equal(redactor.redact(`got ${jwt}\n`), `got ${gone}\n`);
  assert.equal(redactor.redact(`got ${jwt.slice(0, jwt.lastIndexOf('.') + 1)} end`), `got ${gone} end`);
});

const pem = generateKeyPairSync('rsa', {
  modulusLength: 1024,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});

test('a private key goes as a whole block', () => {
  const key = pem.privateKey.trim();
  assert.equal(redactor.redact(`a\n${key}\nb`), `a\n${gone}\nb`);
  assert.equal(redactor.redact(`a\r\n${key.replaceAll('\n', '\r\n')}\r\nb`), `a\r\n${gone}\r\nb`);
  assert.equal(redactor.redact(JSON.stringify(`a\n${key}\nb`)), JSON.stringify(`a\n${gone}\nb`));
  assert.equal(redactor.redact(JSON.stringify({ private_key: key })), JSON.stringify({ private_key: gone }));
  const twice = JSON.stringify(JSON.stringify(`a\n${key}\nb`));
  assert.equal(redactor.redact(twice), JSON.stringify(JSON.stringify(`a\n${gone}\nb`)));
  assert.equal(redactor.redact(key.replace(/^/gm, '    ')), `    ${gone}`);
  assert.equal(redactor.redact(`KEY_PEM=${JSON.stringify(key)}`), `KEY_PEM="${gone}"`);
});

test('a private key that was cut off loses what there is of it', () => {
  const lines = pem.privateKey.trim().split('\n');
  const withoutEnd = lines.slice(0, 6).join('\n');
  assert.equal(redactor.redact(`${withoutEnd}\n\nThen the build went on.`), `${gone}\n\nThen the build went on.`);
  assert.equal(redactor.redact(JSON.stringify(`${withoutEnd}\nand so on`)), JSON.stringify(`${gone}\nand so on`));
  const withoutBegin = lines.slice(4).join('\n');
  assert.equal(redactor.redact(`the tail:\n${withoutBegin}\nnext`).includes(lines[6] ?? '-'), false);
  assert.equal(redactor.redact(JSON.stringify(withoutBegin)).includes(lines[6] ?? '-'), false);
});

test('a private key in base64 goes; public keys and certificates stay', () => {
  const encoded = Buffer.from(pem.privateKey).toString('base64');
  assert.equal(redactor.redact(`client-key-data: ${encoded}`).includes(encoded.slice(60, 90)), false);
  assert.equal(redactor.redact(pem.publicKey), pem.publicKey);
  const certificate = joined('-----BEGIN CERTI', 'FICATE-----\n', made(64), '\n-----END CERTIFICATE-----');
  assert.equal(redactor.redact(certificate), certificate);
});

test('counts name the rule and add up to the placeholders put in', () => {
  const { text, counts } = redactor.redactCounted(`DB_PASSWORD=${pass}\nTOKEN=${made(30, alnum)}\n${jwt}\n`);
  assert.equal(text, `DB_PASSWORD=${gone}\nTOKEN=${gone}\n${gone}\n`);
  assert.deepEqual(counts, { assignment: 2, jwt: 1 });
});

test('findings are in order, without overlaps, and gone from what was redacted', () => {
  const text = `https://bob:${pass}@h/?token=${token} and ${jwt}`;
  const found = redactor.find(text);
  assert.deepEqual(
    found.map(({ rule, start, end }) => [rule, text.slice(start, end)]),
    [
      ['url-user', pass],
      ['url-query', token],
      ['jwt', jwt],
    ],
  );
  assert.deepEqual(redactor.find(redactor.redact(text)), []);
});
