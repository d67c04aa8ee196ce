import assert from 'node:assert/strict';
import { test } from 'node:test';
import { skippableLabel as claudeLabel } from '../../scripts/rollout/claude-lines.ts';
import { skippableLabel as codexLabel } from '../../scripts/rollout/codex-lines.ts';

test('a line is dropped unparsed for its own type, wherever the key stands', () => {
  assert.equal(claude('{"type":"api-request-blob","sessionId":"s","message":{"role":"user"}}'), 'api-request-blob');
  assert.equal(claude('{"parentUuid":null,"isSidechain":false,"n":12,"type":"progress","data":{}}'), 'progress');
  assert.equal(
    claude(
      '{"parentUuid":"x","isSidechain":false,"attachment":{"type":"skill_listing","content":"…"},"type":"attachment"}',
    ),
    'attachment:skill_listing',
  );
  assert.equal(
    claude('{"type":"attachment","attachment":{"type":"prompt_snapshot","a":[]}}'),
    'attachment:prompt_snapshot',
  );
  assert.equal(
    codexLabel(
      Buffer.from('{"timestamp":"t","ordinal":7,"type":"event_msg","payload":{"type":"token_count","info":{}}}'),
    ),
    'event_msg:token_count',
  );
});

test('words that only look like a type drop nothing', () => {
  const quoted = JSON.stringify({
    note: '{"type":"progress","attachment":{"type":"skill_listing"},"type":"attachment"}',
    type: 'user',
    message: { role: 'user', content: 'why is "type":"api-request" skipped?' },
  });
  assert.equal(claude(quoted), null);
  assert.equal(claude('{"message":{"type":"progress"},"type":"user"}'), null);
  assert.equal(claude('{"attachment":{"type":"skill_listing"},"type":"user","message":{"content":"keep me"}}'), null);
  assert.equal(
    claude('{"parentUuid":"x","attachment":{"type":"queued_command","prompt":"keep"},"type":"attachment"}'),
    null,
  );
  assert.equal(claude('{"attachment":{"content":"x","type":"skill_listing"},"type":"attachment"}'), null);
});

test('a line that is cut or holds a second record is parsed', () => {
  const skipped = '{"type":"progress","data":{"a":1}}';
  const said = '{"parentUuid":null,"type":"user","message":{"content":"keep me"}}';
  assert.equal(claude(skipped), 'progress');
  assert.equal(claude(skipped + said), null);
  assert.equal(claude(skipped.slice(0, 25) + said), null);
  assert.equal(claude(skipped.slice(0, -3)), null);
  const event = '{"timestamp":"t","type":"world_state","payload":{"text":"';
  assert.equal(codexLabel(Buffer.from(`${event}{"timestamp":"t","type":"response_item","payload":{}}`)), null);
});

function claude(line: string): string | null {
  return claudeLabel(Buffer.from(line));
}
