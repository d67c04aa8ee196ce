import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { loadSamples } from '../../scripts/bench/samples.ts';
import { writeSessions } from '../../scripts/bench/sessions.ts';
import { command } from '../support/nights.ts';

const root = await mkdtemp(join(tmpdir(), 'ctm-bench-'));
after(() => rm(root, { recursive: true, force: true }));

async function aCorpus(name: string): Promise<string> {
  const samples = (await loadSamples()).filter(({ agent }) => agent === 'codex');
  await writeSessions(join(root, name), samples, 3);
  return join(root, name);
}

test('each sub-command has a help of its own, and none is wider than a terminal', async () => {
  for (const name of [[], ['stages'], ['trust'], ['retrieval']]) {
    const { code, stdout } = await command('bench', [...name, '--help']);
    assert.equal(code, 0);
    const [flags = ''] = stdout.split('\nexamples:');
    assert.deepEqual(
      flags.split('\n').filter((line) => line.length > 100),
      [],
      name[0],
    );
    assert.match(flags, new RegExp(`usage: npm run ${['bench', '--', ...name].join(' ')} \\[flags\\]`));
  }
});

test('mistakes are told before anything is measured, with the next step', async () => {
  const corpus = await aCorpus('mistakes');
  const linuxOnly: [string[], RegExp][] = [
    [
      ['--compare', 'codex', '--codex', join(root, 'nowhere')],
      /There is no codex at .*\n.*npm install --prefix <dir> @openai/,
    ],
    [['--compare', 'tool "a', '--corpus', corpus], /A quote is not closed/],
    [['--compare', 'tool {place}'], /--compare knows no \{place\}/],
    [['--compare', 'tool', '--corpus', join(root, 'nowhere')], /nowhere cannot be read/],
  ];
  const cases: [string[], RegExp][] = [
    [['nothing'], /There is no measure “nothing”\.\n.*scaling-record.*stages, /],
    [['--once'], /--once takes one measure/],
    [['stages', '--sessions', 'many'], /--sessions does not take “many”/],
    [['stages', '--sessions', '5', '--corpus', corpus], /Leave one of them out/],
    [['stages', '--corpus', root], /holds no sessions/],
    [['stages', '--only', 'read'], /Unknown option '--only'/],
    [['--chart', join(root, 'nowhere.json')], /nowhere\.json cannot be read/],
    ...(platform() === 'linux' ? linuxOnly : []),
  ];
  for (const [args, message] of cases) {
    const { code, stdout, stderr } = await command('bench', args);
    assert.deepEqual([code, stdout], [2, ''], args.join(' '));
    assert.match(stderr, message);
  }
});

test("a corpus' stages are told as a table and as JSON", async () => {
  const corpus = await aCorpus('corpus');
  const table = await command('bench', ['stages', '--corpus', corpus]);
  assert.equal(table.code, 0, table.stderr);
  assert.match(
    table.stdout,
    /^stage .*\nread .*\nredact .*\nfilter .*\ntier .*\nrequest .*\nparse .*\nrecord .*\nall /,
  );
  assert.match(table.stdout, /\n3 sessions, 0\.12 MB, the median of 3 passes/);
  const json = JSON.parse((await command('bench', ['stages', '--corpus', corpus, '--json'])).stdout);
  assert.deepEqual(
    [json.rollouts, json.ignored, json.stages.length, json.machine.cores > 0, json.peakMegabytes > 20],
    [3, 0, 8, true, true],
  );
});

test('another program is compared with ours on the same corpus', { skip: platform() !== 'linux' }, async () => {
  const corpus = await aCorpus('compared');
  const script = join(root, 'other.mjs');
  await writeFile(
    script,
    `import { readdirSync, writeFileSync } from 'node:fs';
const [corpus, server, out] = process.argv.slice(2);
const found = readdirSync(corpus, { recursive: true }).filter((name) => name.endsWith('.jsonl'));
const answer = await (await fetch(server + '/v1/responses', { method: 'POST', body: '{"input":[]}' })).text();
if (found.length !== 3 || !answer.includes('response.completed')) process.exit(9);
writeFileSync(out + '/done', '');`,
  );
  const other = `'${process.execPath}' ${script} {corpus} {server} {out}`;
  const { code, stdout, stderr } = await command('bench', ['--compare', other, '--corpus', corpus, '--json']);
  assert.equal(code, 0, stderr);
  const { comparison, measures } = JSON.parse(stdout);
  assert.deepEqual(measures, []);
  assert.deepEqual([comparison.other, comparison.rounds], [other, 2]);
  assert.deepEqual(
    comparison.rows.map(({ name, ours, theirs, verdict }: Record<string, unknown>) => [
      name,
      Number(ours) > 0 && Number(theirs) > 0,
      verdict,
    ]),
    [
      ['processor time', true, 'reported'],
      ['elapsed time', true, 'reported'],
      ['peak memory', true, 'reported'],
    ],
  );
});
