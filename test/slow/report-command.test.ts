import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
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

test('the report of a real night is one file that loads nothing, and the repository is as it was', async (t) => {
  const repo = await aMemory(t);
  const before = tips(repo);
  const out = join(temporaryFolder(t), 'report.html');
  const { code, stdout, stderr } = await command('report', ['--repo', repo, '--out', out]);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^Wrote .*report\.html \(\d+ KB\)\. Open it in a browser; it loads nothing else\.$/m);
  const page = readFileSync(out, 'utf8');
  assert.match(page, /^<!doctype html>\n<html lang="en">/);
  assert.match(page, /"id":"git\.example\.test\/acme\/etl-job"/);
  const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1] ?? '';
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']{44}'; style-src 'sha256-[^']{44}'; /);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  const [head = ''] = page.split('<script type="application/json"');
  assert.doesNotMatch(head, /\s(?:src|style|on[a-z]+)=/);
  assert.equal([...page.matchAll(/<script[ >]/g)].length, 3);
  const links = [...head.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href);
  assert.deepEqual(
    links.filter((href) => !href.startsWith('#')),
    [],
  );
  assert.deepEqual(tips(repo), before);
  assert.equal(git(repo, 'status', '--porcelain'), '');
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

test('a clone has the words of sessions once it fetched them, and what was extracted before', async (t) => {
  const repo = aRepository(t);
  await writeReportMemory(repo, { taught: [one] });
  const dir = join(temporaryFolder(t), 'clone');
  git(repo, 'clone', '--quiet', repo, dir);
  const words = async () => {
    const { stdout } = await command('report', ['--repo', dir, '--json']);
    return JSON.parse(stdout).words[0]?.items[0]?.from;
  };
  git(dir, 'fetch', '--quiet', 'origin', 'refs/memory/state:refs/memory/state');
  assert.equal(await words(), 'extract');
  git(dir, 'fetch', '--quiet', 'origin', 'refs/memory/rollouts:refs/memory/remote/memory/rollouts');
  assert.equal(await words(), 'session');
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

test('a file that is no report is left as it is', async (t) => {
  const repo = aRepository(t, { 'README.md': 'Nothing yet.\n' });
  const path = join(temporaryFolder(t), 'notes.html');
  writeFileSync(path, '<p>Mine.');
  const { code, stderr } = await command('report', ['--repo', repo, '--out', path]);
  assert.equal(code, 2);
  assert.match(stderr, /notes\.html is there already and is no report, so it was left as it is\./);
  assert.equal(readFileSync(path, 'utf8'), '<p>Mine.');
});
