import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { stagesText } from '../../scripts/bench/commands/stages.ts';
import { sourcesIn } from '../../scripts/bench/corpus.ts';
import { loadSamples, samplePlace } from '../../scripts/bench/samples.ts';
import { taught } from '../../scripts/bench/scaling.ts';
import { writeSessions } from '../../scripts/bench/sessions.ts';
import { measureStages, stageNames } from '../../scripts/bench/stages/measure.ts';
import { record } from '../../scripts/bench/stages/recorder.ts';
import { MemoryError, UsageError } from '../../scripts/shared/errors.ts';
import { outputsOfThread } from '../../scripts/state/outputs.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';

const root = await mkdtemp(join(tmpdir(), 'ctm-stages-'));
after(() => rm(root, { recursive: true, force: true }));
const processor = { cpuTime: () => performance.now() };
const quiet = () => {};

test('every stage of every session is measured, and all together', async () => {
  const corpus = join(root, 'corpus');
  const samples = await loadSamples();
  await writeSessions(corpus, samples, samples.length);
  const sources = await sourcesIn(corpus);
  const seen: number[] = [];
  const stages = await measureStages(processor, sources, await samplePlace(), (done) => seen.push(done));
  assert.equal(stages.rollouts, samples.length);
  assert.equal(stages.ignored, 0);
  assert.equal(stages.passes, 3);
  assert.equal(seen.length, 3 * samples.length);
  assert.deepEqual(
    stages.stages.map(({ stage }) => stage),
    [...stageNames, 'all'],
  );
  for (const { stage, ms, megabytesPerSecond, rolloutsPerSecond } of stages.stages) {
    assert.ok(ms > 0, stage);
    assert.equal((ms * rolloutsPerSecond).toFixed(3), '1000.000', stage);
    assert.equal((megabytesPerSecond / rolloutsPerSecond).toFixed(6), (stages.bytes / samples.length / 1e6).toFixed(6));
  }
  const sum = stages.stages.slice(0, -1).reduce((total, { ms }) => total + ms, 0);
  assert.ok((stages.stages.at(-1)?.ms ?? 0) > sum / 2);
  assert.match(stagesText(stages, 100), /^stage +ms a rollout +MB\/s +rollouts\/s\nread /);
});

test('a corpus with damage is measured as far as it can be read, and what cannot is counted', async () => {
  const corpus = join(root, 'damaged');
  await writeSessions(corpus, await loadSamples(), 2);
  await writeFile(join(corpus, 'codex', 'empty.jsonl'), '');
  await writeFile(join(corpus, 'codex', 'half.jsonl'), '{"type":"session_meta","payload":{');
  await writeFile(join(corpus, 'codex', 'other.jsonl'), 'no JSON at all\n\u0000\n');
  const { rollouts, ignored } = await measureStages(processor, await sourcesIn(corpus), await samplePlace(), quiet);
  assert.deepEqual([rollouts, ignored], [2, 3]);
});

test('a corpus without a session, and a folder that is none, are mistakes with a next step', async () => {
  await mkdir(join(root, 'none', 'codex'), { recursive: true });
  await appendFile(join(root, 'none', 'codex', 'a.jsonl'), '{}\n');
  const sources = await sourcesIn(join(root, 'none'));
  await assert.rejects(measureStages(processor, sources, await samplePlace(), quiet), MemoryError);
  await assert.rejects(sourcesIn(join(root, 'nowhere')), UsageError);
  await assert.rejects(sourcesIn(root), UsageError);
});

test('who stops it stops it', async () => {
  const corpus = join(root, 'corpus');
  const reason = new Error('stopped');
  await assert.rejects(
    measureStages(processor, await sourcesIn(corpus), await samplePlace(), quiet, AbortSignal.abort(reason)),
    (error) => error === reason,
  );
});

test('a session that is there already is not recorded again', async () => {
  const state = await emptyState();
  const learned = await taught(20);
  assert.equal(record(state, [...learned.slice(0, 15), ...learned.slice(0, 5)]), 15);
  assert.equal(record(state, learned), 5);
  assert.ok(learned.every(({ thread }) => outputsOfThread(state, thread.id).length === 1));
  state.close();
});
