import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadSeen, relatives, type Seen, saveSeen } from '../../scripts/collect/seen.ts';
import { kinOf, outlineOf } from '../../scripts/rollout/forks.ts';
import { temporaryFolder } from '../support/repository.ts';
import { claudeId, claudeLine, codexId, codexMessage, codexMeta, readSpec, sessionOf } from '../support/sessions.ts';

const row: Seen = {
  agent: 'codex',
  path: '/home/dana/one.jsonl',
  fingerprint: '7@8',
  sha256: 'ab',
  thread: codexId,
  kin: ['0123456789abcdef'],
  repeated: 3,
  isSettled: true,
};

test('what was seen is read as it was written', async (t) => {
  const path = join(temporaryFolder(t), 'seen.jsonl');
  await saveSeen(path, 'rules', new Map([[row.path, row]]));
  assert.deepEqual([...(await loadSeen(path, 'rules')).values()], [row]);
});

test('kin that an older version wrote down by its names is still found', async (t) => {
  const path = join(temporaryFolder(t), 'seen.jsonl');
  const { agent, fingerprint, sha256, repeated, isSettled } = row;
  const old = (name: string, kin: readonly string[]) =>
    JSON.stringify([agent, name, fingerprint, sha256, name, kin, repeated, isSettled]);
  const head = JSON.stringify({ format: 'ctm-seen', version: 1, rules: 'rules' });
  writeFileSync(path, `${[head, old('parent', [codexId]), old('copy', ['another', 'u1'])].join('\n')}\n`);
  const seen = await loadSeen(path, 'rules');
  const relativesOf = async (...reading: [Parameters<typeof readSpec>[1], Parameters<typeof readSpec>[2]]) => {
    const session = sessionOf(await readSpec(t, ...reading));
    return relatives(new Set(kinOf(outlineOf(session, session.id))), seen).map(({ path: name }) => name);
  };
  const fork = codexMeta({ id: codexId.replace('0001', '0002'), forked_from_id: codexId });
  assert.deepEqual(await relativesOf('codex', [fork, codexMessage('user', ['Fix it'])]), ['parent']);
  const copied = claudeLine('user', 'Hi', { uuid: 'u1', sessionId: claudeId });
  assert.deepEqual(await relativesOf('claude-code', [copied]), ['copy']);
});
