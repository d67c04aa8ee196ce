import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atifOf } from '../../scripts/collect/atif.ts';
import type { Item } from '../../scripts/rollout/types.ts';
import { openSamples } from '../support/sessions.ts';
import { aRollout } from '../support/stored-rollouts.ts';

interface Document {
  readonly schema_version: string;
  readonly session_id: string;
  readonly agent: { readonly name: string; readonly version: string };
  readonly steps: readonly {
    readonly step_id: number;
    readonly source: string;
    readonly message: string;
    readonly timestamp?: string;
    readonly tool_calls?: readonly { tool_call_id: string; function_name: string; arguments: object }[];
    readonly observation?: { readonly results: readonly { source_call_id: string | null; content: string }[] };
  }[];
}

const rootKeys = ['schema_version', 'session_id', 'agent', 'steps', 'extra'];
const stepKeys = ['step_id', 'timestamp', 'source', 'message', 'tool_calls', 'observation', 'extra'];

test('every recorded session becomes a valid ATIF v1.7 document that holds each of its items once', async () => {
  const samples = openSamples();
  const { found } = await samples.list();
  assert.ok(found.length > 20);
  for (const { thread } of found) {
    const rollout = await samples.read(thread.id);
    const document = JSON.parse(JSON.stringify(atifOf(rollout))) as Document;
    assert.equal(document.schema_version, 'ATIF-v1.7');
    assert.equal(document.session_id, thread.id);
    assert.deepEqual(Object.keys(document), rootKeys);
    document.steps.forEach((step, at) => {
      assert.equal(step.step_id, at + 1);
      assert.ok(['system', 'user', 'agent'].includes(step.source));
      assert.equal(typeof step.message, 'string');
      assert.deepEqual(
        Object.keys(step).filter((key) => !stepKeys.includes(key)),
        [],
      );
      if (step.tool_calls !== undefined) assert.equal(step.source, 'agent');
    });
    const texts = document.steps.flatMap(({ message, tool_calls, observation }) => [
      ...(tool_calls === undefined && observation === undefined ? [message] : []),
      ...(tool_calls ?? []).map(() => null),
      ...(observation?.results ?? []).map(({ content }) => content),
    ]);
    assert.equal(texts.length, rollout.items.length);
    const isThere = new Set(texts);
    for (const item of rollout.items) if (item.kind !== 'call') assert.ok(isThere.has(item.text));
  }
});

test('an output stands at its call, with what the format has no field for beside it', () => {
  const at = (n: number, item: Partial<Item>): Item => ({
    n: String(n),
    at: 1_795_132_800,
    who: 'tool',
    kind: 'call',
    text: '',
    src: { line: n },
    ...item,
  });
  const items = [
    at(2, { tool: 'exec', does: 'shell', call: 'c1', text: 'make test' }),
    at(3, { tool: 'edit', does: 'edit', call: 'c2', text: '{"path":"a.ts"}', files: ['a.ts'] }),
    at(4, { kind: 'output', call: 'c1', text: 'failed', exit: 2 }),
    at(5, { kind: 'output', call: 'gone', text: 'late' }),
  ];
  const { steps } = atifOf({ ...aRollout(1), items }) as Document;
  const timestamp = '2026-11-20T00:00:00Z';
  assert.deepEqual(steps, [
    {
      step_id: 1,
      timestamp,
      source: 'agent',
      message: '',
      tool_calls: [{ tool_call_id: 'c1', function_name: 'exec', arguments: { command: 'make test' } }],
      extra: { n: '2', who: 'tool', does: 'shell' },
      observation: { results: [{ source_call_id: 'c1', content: 'failed', extra: { n: '4', exit: 2 } }] },
    },
    {
      step_id: 2,
      timestamp,
      source: 'agent',
      message: '',
      tool_calls: [{ tool_call_id: 'c2', function_name: 'edit', arguments: { path: 'a.ts' } }],
      extra: { n: '3', who: 'tool', does: 'edit', files: ['a.ts'] },
    },
    {
      step_id: 3,
      timestamp,
      source: 'agent',
      message: '',
      observation: { results: [{ source_call_id: 'gone', content: 'late', extra: { n: '5' } }] },
      extra: { n: '5', who: 'tool' },
    },
  ]);
});
