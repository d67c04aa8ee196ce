import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { aFix, type CodexSession, codexText, uuid } from '../support/codex-session.ts';
import { nightly, over, recorded, recordedSources } from '../support/nights.ts';
import { aRepository, temporaryFolder, writeFiles } from '../support/repository.ts';
import { base64, joined, made } from '../support/secrets.ts';

test('none of the secrets of the recorded sessions is in any object, journal, log or summary, in no encoding', async (t) => {
  const folder = join(recorded, 'codex/exec/05-secrets');
  const [name = ''] = readdirSync(folder);
  const printed = /(OPENAI_API_KEY=(?:[^"\\]|\\.){50,2000})"/s.exec(readFileSync(join(folder, name), 'utf8'))?.[1];
  const lines = (JSON.parse(`"${printed}"`) as string).split('\n');
  const values = lines.flatMap((line) => /^[A-Z_]+="?(.{8,}?)"?$/.exec(line)?.[1] ?? []);
  assert.ok(values.length >= 8, String(values.length));
  const jwt = joined('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiJmYWtlIn0', '.c2lnbmF0dXJl');
  const secrets = [...values, jwt, 'hunter2-fake', joined('MIIFAKE', 'fakeFAKEfake'), joined('/T000', 'FAKE0/B000')];
  const repo = aRepository(t);
  const summary = join(temporaryFolder(t), 'summary.md');
  const night = await nightly([...over(repo, recordedSources()), '--json'], { env: { GITHUB_STEP_SUMMARY: summary } });
  assert.equal(night.code, 0, night.stderr);
  assertGone(secrets, everythingWritten(repo, { ...night, summary: readFileSync(summary, 'utf8') }));
});

test('a secret is gone wherever a session holds it: words, outputs, names, titles, folders, branches, halves', async (t) => {
  const env = made(36, undefined, 11);
  const odd = joined('q"\\', made(20, undefined, 12), 'ä/+ ?');
  const password = joined('Tr0ub4', 'dor&', made(8, undefined, 13));
  const token = (seed: number) => joined('gh', 'p_', made(36, undefined, seed));
  const [inFile, inTitle, inFolder, inBranch, inCommand, inId, cutHead, cutTail] = [21, 22, 23, 24, 25, 26, 27, 28].map(
    token,
  );
  const key = joined('-----BEGIN ', 'PRIVATE KEY-----');
  const body = [31, 32, 33].map((seed) => made(64, base64, seed));
  const long = (before: string, secret: string, after: string) => `${before}${secret}${after}`;
  const sessions: CodexSession[] = [
    aFix(1, [
      { human: `use ${env} for it, and never commit ${Buffer.from(`x${env}`).toString('base64')}` },
      {
        run: `curl -d '${encodeURIComponent(odd)}' https://api.example.test`,
        out: JSON.stringify({ a: odd, b: JSON.stringify(odd) }),
      },
      ...[0, 1, 2].map((pad) => ({
        run: 'env',
        out: Buffer.from(`${'x'.repeat(pad)}${env} ${odd}`).toString('base64'),
      })),
      { edit: [`conf/${env}.ini`], added: env },
    ]),
    aFix(
      2,
      [
        { run: 'cat .env', out: `DB_PASSWORD=${password}\n` },
        { human: `No, ${password} is wrong there, take it out of lib/module_2.py` },
        { edit: ['lib/module_2.py', `backup/${password}.sql`] },
        {
          run: `psql --host db ${password}`,
          exit: 1,
          out: `error: ${Buffer.from(`a${password}`).toString('base64')} refused`,
        },
        { says: `I put ${encodeURIComponent(password)} into the vault.` },
      ],
      { branch: `fix/${password}`, cwd: `/home/dana/src/${password}` },
    ),
    aFix(3, [{ edit: [`keys/${inFile}.txt`] }, { run: `deploy --with ${inCommand}`, exit: 1, out: 'error: no' }], {
      cwd: `/home/dana/src/${inFolder}`,
      branch: `feature/${inBranch}`,
    }),
    { ...aFix(4), id: inId ?? '' },
    {
      id: uuid(5),
      events: [
        {
          human: `${'Please deploy the service with the key of ours now: '.repeat(2)}${inTitle} and say what happened.`,
        },
        ...aFix(5).events.slice(1),
      ],
    },
    {
      id: uuid(6),
      events: [{ human: `${key}\n${body.join('\n')}\nis my key, fix the loader.` }, ...aFix(6).events.slice(1)],
    },
    aFix(7, [
      { run: 'head key.pem', exit: 1, out: `error: bad key ${key}\n${body.join('\n')}` },
      {
        run: 'cat bundle.js',
        exit: 1,
        out: `error: ${long('a'.repeat(16 * 1024 - 27), cutHead ?? '', ` ${'b '.repeat(30_000)}`)}`,
      },
      {
        run: 'cat other.js',
        exit: 1,
        out: `error: ${long('c '.repeat(40_000), cutTail ?? '', ` ${'d '.repeat(8 * 1024 - 12)}`)}`,
      },
      {
        run: 'cat third.js',
        exit: 1,
        out: `error: ${long('e '.repeat(40_000), `password=${password}`, ` ${'f '.repeat(8 * 1024 - 6)}`)}`,
      },
    ]),
  ];
  const folder = temporaryFolder(t);
  writeFiles(
    folder,
    Object.fromEntries(
      sessions.map((one, index) => [`2026/rollout-2026-11-29T10-00-0${index}-${one.id}.jsonl`, codexText(one)]),
    ),
  );
  writeFiles(folder, { [`notes-${inFile}.txt`]: 'no session' });
  const repo = aRepository(t);
  const summary = join(temporaryFolder(t), 'summary.md');
  const program = { env: { MY_API_TOKEN: env, OTHER_SECRET_KEY: odd, GITHUB_STEP_SUMMARY: summary } };
  const night = await nightly([...over(repo, [{ agent: 'codex', path: folder }]), '--json'], program);
  assert.equal(night.code, 0, night.stderr);
  assert.equal(JSON.parse(night.stdout).sessions.extracted.length, sessions.length);
  const dry = await nightly([...over(repo, [{ agent: 'codex', path: folder }]), '--dry-run'], program);
  const text = await nightly(over(repo, [{ agent: 'codex', path: folder }]), program);
  const secrets = [
    env,
    odd,
    password,
    inFile,
    inTitle,
    inFolder,
    inBranch,
    inCommand,
    inId,
    cutHead,
    cutTail,
    ...body,
  ].map(String);
  const halves = [env, inTitle, cutHead, cutTail, ...body]
    .map(String)
    .flatMap((secret) => [secret.slice(0, 18), secret.slice(-18)]);
  assertGone(
    [...secrets, ...halves],
    everythingWritten(repo, {
      ...night,
      summary: readFileSync(summary, 'utf8'),
      dry: dry.stdout + dry.stderr,
      text: text.stdout + text.stderr,
    }),
  );
});

/** All objects of the repository, whoever reaches them; every file of ours beside them; what was printed. */
function everythingWritten(repo: string, printed: Readonly<Record<string, unknown>>): Map<string, string> {
  const objects = execFileSync('git', ['cat-file', '--batch-all-objects', '--batch', '--unordered'], {
    cwd: repo,
    maxBuffer: 1 << 30,
  });
  const written = new Map([
    ['the objects', objects.toString('latin1')],
    ['the objects, as text', objects.toString('utf8')],
  ]);
  for (const path of filesBelow(join(repo, '.git'))) {
    if (path.includes('/objects/')) continue;
    written.set(path, `${path}\n${readFileSync(path, 'utf8')}`);
  }
  for (const [name, text] of Object.entries(printed)) written.set(name, String(text));
  return written;
}

function assertGone(secrets: readonly string[], written: ReadonlyMap<string, string>): void {
  const found: string[] = [];
  for (const secret of secrets)
    for (const form of formsOf(secret))
      for (const [place, text] of written)
        if (text.includes(form)) found.push(`${place}: ${form}: ${around(text, form)}`);
  assert.deepEqual(found, []);
}

/** As it is, in JSON (once and twice), in URLs, in base64 with nothing, one and two bytes before it. */
function formsOf(secret: string): Set<string> {
  const json = JSON.stringify(secret).slice(1, -1);
  const base = [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
    const digits = bytes.toString('base64').slice(offset === 0 ? 0 : offset + 1, Math.floor((bytes.length * 8) / 6));
    return [digits, digits.replace(/\+/g, '-').replace(/\//g, '_')];
  });
  return new Set([
    secret,
    json,
    JSON.stringify(json).slice(1, -1),
    encodeURIComponent(secret),
    encodeURI(secret),
    ...base,
  ]);
}

function around(text: string, form: string): string {
  const at = text.indexOf(form);
  return text.slice(Math.max(0, at - 60), at + form.length + 20);
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}
