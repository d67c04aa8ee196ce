import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { checkoutsFrom } from '../../scripts/rollout/checkouts.ts';
import type { Agent } from '../../scripts/rollout/types.ts';
import { filesAt, type Night, playNight } from '../support/nights.ts';
import { aRepository, temporaryFolder, writeFiles } from '../support/repository.ts';
import { furtherSamples, samples } from '../support/sessions.ts';

const folders = (['copilot', 'gemini', 'opencode', 'pi'] as const).map((agent) => ({
  agent,
  path: join(samples, agent),
}));
const at = (project: string) => ({ remotes: [`git@git.example.test:acme/${project}.git`], rootCommit: null });
const checkouts = checkoutsFrom({
  '/home/dana/src/multi-gm': at('gm'),
  '/home/dana/src/multi-oc': at('oc'),
  '/home/dana/src/multi-pi': at('pi'),
});

const copilotId = 'ff2e5fd5-d029-4eec-b9b6-0a77c6f74065';
const trivialId = 'b0383e95-2462-4442-8966-61c3ff7468ed';
const geminiId = 'bceb1b1d-169c-4b8a-bff9-c7847189b924';
const openCodeId = 'ses_dd64baf82ffejwkbVSQ0wkClD1';
const piId = '01a229b5-1a9c-76d3-aaac-f76d841a2efb';

let night: Night;
let memory: ReadonlyMap<string, string>;

before(async (t) => {
  const repo = aRepository(t as TestContext, { 'README.md': 'Memory.\n' });
  night = await playNight(repo, folders, { checkouts });
  memory = filesAt(repo, night.report.commits.tip ?? assert.fail('nothing was committed'), 'memories');
});

test('every sample gives an output, or nothing worth keeping: none is lost without a word', () => {
  const { phase1 } = night.report;
  assert.deepEqual([...phase1.extracted].sort(), [piId, geminiId, copilotId, openCodeId].sort());
  assert.deepEqual(phase1.nothing, [trivialId]);
  assert.deepEqual([...night.report.skipped], []);
  assert.deepEqual(phase1.failed, []);
});

for (const [agent, repo, failed, changed] of [
  ['copilot', 'github.com/acme/orders-api', '@6.2,8', '@18.2'],
  ['gemini', 'git.example.test/acme/gm', '@5.2,5.3', '@15.2'],
  ['opencode', 'git.example.test/acme/oc', '@2.4,2.5', '@4.2'],
  ['pi', 'git.example.test/acme/pi', '@5.3,6', '@9'],
] as const)
  test(`${agent}: the handbook says what failed and what changed, with where the session shows it`, () => {
    const handbook = memory.get('memories/MEMORY.md') ?? '';
    const block = handbook.split(/^(?=# )/m).find((part) => part.includes(`repo=${repo};`)) ?? assert.fail(handbook);
    assert.ok(block.includes(`\`node --test; exit 3\` failed and was not seen to pass afterwards`), block);
    assert.ok(block.includes(`${failed}]`), block);
    assert.ok(block.includes('`src/total.js`') && block.includes(`${changed}]`), block);
  });

test('no home folder, vendor text or injected context gets into the memory', () => {
  for (const [path, text] of memory)
    assert.ok(!/\/home\/|session_context|current_datetime|MARK-|vendor text/.test(text), path);
});

test('sessions that are not of a person’s making are skipped with that reason', async (t) => {
  const folder = temporaryFolder(t);
  const own = '<commit-to-memory v=\\"1\\" run=\\"own\\">';
  const prompt = /The total\(\) test fails, fix it\./g;
  writeFiles(folder, {
    'copilot/a/events.jsonl': read(0).replace(prompt, own),
    'gemini/session.jsonl': read(2).replace('"kind":"main"', '"kind":"subagent"'),
    'opencode/a.json': read(3).replace('"slug"', '"parentID": "ses_parent",\n  "slug"'),
    'pi/a.jsonl': read(4).replace(prompt, own),
  });
  const sources = folders.map(({ agent }) => ({ agent: agent as Agent, path: join(folder, agent) }));
  const { report } = await playNight(aRepository(t, { 'README.md': 'Memory.\n' }), sources, { checkouts });
  assert.deepEqual(Object.fromEntries(report.skipped), {
    [copilotId]: 'own_run',
    [geminiId]: 'sub_agent',
    [openCodeId]: 'sub_agent',
    [piId]: 'own_run',
  });
  assert.deepEqual(report.phase1.extracted, []);
});

function read(index: number): string {
  return readFileSync(furtherSamples[index]?.path ?? '', 'utf8');
}
