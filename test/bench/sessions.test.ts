import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { renewed } from '../../scripts/bench/renew.ts';
import { isSaid, loadSamples, samplePlace } from '../../scripts/bench/samples.ts';
import { sessionText, writeSessions } from '../../scripts/bench/sessions.ts';
import { transcriptLines, writeTranscript } from '../../scripts/bench/transcript.ts';
import { openRollouts } from '../../scripts/rollout/source.ts';

const samples = await loadSamples();
const spec = { bytes: 2_000_000, skippable: 0.85, seed: 85, session: '00000000-0000-4000-8000-000000000085' };

test('there are samples of both agents, in each of which a person speaks', () => {
  assert.deepEqual([...new Set(samples.map(({ agent }) => agent))].sort(), ['claude-code', 'codex']);
  assert.ok(samples.length >= 14);
});

test('equal ids stay equal under a new copy and different ones different; no copy shares one with another', () => {
  const [a, b] = ['01a229b0-a4cb-70d0-9c00-6fba5df96ff3', '01a229b0-fb80-7c71-9488-5c540a92f9f3'];
  const text = `{"id":"${a}","parent":"${b}","again":"${a}","call_id":"call_abc123XYZ"}`;
  const copies = [0, 1, 2, 100_004].map((copy) => JSON.parse(renewed(text, copy)));
  for (const { id, again, parent } of copies) {
    assert.equal(id, again);
    assert.notEqual(id, parent);
    assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  }
  assert.equal(new Set(copies.flatMap(({ id, parent }) => [id, parent])).size, 8);
  assert.equal(new Set(copies.map(({ call_id }) => call_id)).size, 4);
  assert.equal(renewed(text, 0), text);
});

test('a commit, a path and a number are no ids', () => {
  const text = 'commit 87b2a060c9a8e83cef1bd3490553b3b6262f31d6 in /src/call_graph/a.ts at 12345678';
  assert.equal(renewed(text, 7), text);
});

test('the long transcript is the same for the same seed and another for another', () => {
  const lines = (seed: number) => [...transcriptLines(samples, { ...spec, seed, bytes: 300_000 })];
  assert.deepEqual(lines(1), lines(1));
  assert.notDeepEqual(lines(1), lines(2));
});

test('85 % of the long transcript is what nobody said, and it is as long as was asked for', () => {
  const lines = [...transcriptLines(samples, spec)];
  const sizes = lines.map((line) => ({ bytes: Buffer.byteLength(line) + 1, said: isSaid(line) }));
  const all = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const said = sizes.filter((line) => line.said).reduce((sum, { bytes }) => sum + bytes, 0);
  assert.ok(all >= spec.bytes && all < spec.bytes + 200_000, `${all} bytes`);
  assert.ok(Math.abs(said / all - 0.15) < 0.03, `${said} of ${all} bytes were said`);
});

test('the long transcript is one session to the reader, with everything that was said in it', async (t) => {
  const path = join(aFolder(t), `${spec.session}.jsonl`);
  const lines = [...transcriptLines(samples, spec)];
  const bytes = await writeTranscript(path, lines);
  const rollouts = openRollouts([{ agent: 'claude-code', path }], await samplePlace());
  const { found } = await rollouts.list();
  assert.deepEqual(
    found.map(({ thread }) => thread.id),
    [spec.session],
  );
  const rollout = await rollouts.read(spec.session);
  assert.deepEqual([rollout.source.bytes, rollout.source.lines], [bytes, lines.length]);
  assert.equal(rollout.skipped.bad_json, undefined);
  const answered = new Set(rollout.items.filter(({ kind }) => kind === 'output').map(({ call }) => call));
  const called = rollout.items.filter(({ kind, call }) => kind === 'call' && answered.has(call));
  assert.ok(called.length > 20, `${called.length} calls have their answer`);
});

test('a session of 71 KB is nearly that long, ends at a line and begins like its sample', () => {
  for (const sample of samples) {
    const text = sessionText(sample, 5, 71_000);
    assert.ok(text.length <= 71_000 && text.endsWith('}\n'), sample.name);
    assert.ok(Buffer.byteLength(text) > 60_000, `${sample.name}: ${Buffer.byteLength(text)}`);
    assert.equal(text.includes(sample.id), false);
  }
});

test('a hundred sessions from the samples are a hundred sessions to the reader, none taken for a fork', async (t) => {
  const folder = aFolder(t);
  const sources = await writeSessions(folder, samples, 100);
  const { found, ignored } = await openRollouts(sources, await samplePlace()).list();
  assert.deepEqual(ignored, []);
  assert.equal(new Set(found.map(({ thread }) => thread.id)).size, 100);
  assert.equal(found.filter(({ skipped }) => skipped.repeated !== undefined).length, 0);
  assert.equal(found.filter(({ humanItems }) => humanItems === 0).length, 0);
});

function aFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'bench-sessions-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
