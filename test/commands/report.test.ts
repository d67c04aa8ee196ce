import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { aMemory } from '../support/memories.ts';
import { command, tips } from '../support/nights.ts';
import { writeReportMemory } from '../support/report-memory.ts';
import { aRepository, git, temporaryFolder } from '../support/repository.ts';
import { joined, made } from '../support/secrets.ts';

const shop = 'git.example.test/acme/shop';
const one = {
  repo: shop,
  topic: 'Builds',
  title: 'Make it build',
  line: 'Run it',
  words: ['Run it.'],
  summary: 'Ran.',
};

test('the report of a real night is one file, and the repository is as it was', async (t) => {
  const repo = await aMemory(t);
  const before = tips(repo);
  const out = join(temporaryFolder(t), 'report.html');
  const { code, stdout, stderr } = await command('report', ['--repo', repo, '--out', out]);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^Wrote .*report\.html \(\d+ KB\)\. Open it in a browser; it loads nothing else\.$/m);
  const page = readFileSync(out, 'utf8');
  assert.match(page, /^<!doctype html>\n<html lang="en">/);
  assert.match(page, /"id":"git\.example\.test\/acme\/etl-job"/);
  assert.deepEqual(tips(repo), before);
  assert.equal(git(repo, 'status', '--porcelain'), '');
});

test('the page names no address to load from, and its policy knows the script and the style by their hashes', async (t) => {
  const repo = await aMemory(t);
  const out = join(temporaryFolder(t), 'report.html');
  await command('report', ['--repo', repo, '--out', out]);
  const page = readFileSync(out, 'utf8');
  const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1] ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']{44}'; style-src 'sha256-[^']{44}'; /);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  const [head = ''] = page.split('<script type="application/json"');
  assert.doesNotMatch(head, /\s(?:src|style|on[a-z]+)=/);
  assert.deepEqual([...page.matchAll(/<script[ >]/g)].length, 3);
  assert.deepEqual(
    [...head.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href).filter((href) => !href.startsWith('#')),
    [],
  );
});

test('a memory without a night gives a page and says that it is empty', async (t) => {
  const repo = aRepository(t, { 'README.md': 'Nothing yet.\n' });
  const out = join(temporaryFolder(t), 'report.html');
  const { code, stderr } = await command('report', ['--repo', repo, '--out', out]);
  assert.equal(code, 0);
  assert.match(stderr, /No night has run here, so the report is empty: npm run nightly\./);
  assert.match(readFileSync(out, 'utf8'), /Nothing is remembered yet\./);
});

test('--json gives what the page shows and writes no file', async (t) => {
  const repo = aRepository(t);
  await writeReportMemory(repo, { taught: [one], nights: 2, failures: ['too long'] });
  const cwd = temporaryFolder(t);
  const { code, stdout } = await command('report', ['--repo', repo, '--json'], { cwd });
  assert.equal(code, 0);
  const { branch, index, words, nights, waiting } = JSON.parse(stdout);
  assert.equal(branch, 'main');
  assert.deepEqual(index.repositories[0].topics[0].lines[0].evidence, [[0, ['2']]]);
  assert.deepEqual(words[0].items, [
    { n: '2', who: 'human', at: index.sessions[0].at, text: 'Run it.', from: 'session' },
  ]);
  assert.deepEqual([nights.length, waiting.failed[0].error], [2, 'too long']);
  assert.deepEqual(readdirSync(cwd), []);
});

test('no secret reaches the page, wherever the memory holds it', async (t) => {
  const repo = aRepository(t);
  const key = joined('gh', 'p_', made(36));
  await writeReportMemory(repo, {
    taught: [
      { ...one, topic: `Use ${key}`, title: `With ${key}`, line: `Set ${key}`, words: [`It is ${key}`], summary: key },
    ],
    failures: [`401 for ${key}`],
    files: { 'memories/memory_summary.md': `v1\n\n## General Tips\n- The key is ${key}\n` },
  });
  const out = join(temporaryFolder(t), 'report.html');
  assert.equal((await command('report', ['--repo', repo, '--out', out])).code, 0);
  const page = readFileSync(out, 'utf8');
  const packed = /id="words">([^<]*)</.exec(page)?.[1] ?? '';
  const all = page + gunzipSync(Buffer.from(packed, 'base64')).toString();
  assert.ok(!all.includes(key));
  assert.ok((all.match(/\[REDACTED_SECRET\]/g)?.length ?? 0) >= 7);
});

test('a report replaces a report, and nothing else that is there', async (t) => {
  const repo = await aMemory(t);
  const folder = temporaryFolder(t);
  const path = join(folder, 'notes.html');
  writeFileSync(path, '<p>Mine.');
  const refused = await command('report', ['--repo', repo, '--out', path]);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /notes\.html is there already and is no report, so it was left as it is\./);
  assert.equal(readFileSync(path, 'utf8'), '<p>Mine.');
  mkdirSync(join(folder, 'sub'));
  assert.match((await command('report', ['--repo', repo, '--out', join(folder, 'sub')])).stderr, /is no file/);
  assert.match(
    (await command('report', ['--repo', repo, '--out', join(folder, 'none/x.html')])).stderr,
    /There is no folder/,
  );
  const again = join(folder, 'report.html');
  for (let time = 0; time < 2; time += 1)
    assert.equal((await command('report', ['--repo', repo, '--out', again])).code, 0);
  assert.deepEqual(readdirSync(folder).sort(), ['notes.html', 'report.html', 'sub']);
});

test('where the page may not be written nothing is left behind', async (t) => {
  const repo = await aMemory(t);
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'memory-report.html.draft'));
  const { code, stderr } = await command('report', ['--repo', repo], { cwd: folder });
  assert.equal(code, 1);
  assert.match(stderr, /The report could not be written: /);
  assert.equal(existsSync(join(folder, 'memory-report.html')), false);
});
