import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapLimit } from '../../scripts/shared/limit.ts';

test('Ctrl-C is heard between items that only compute', async (t) => {
  const stop = new AbortController();
  const hear = () => stop.abort(new Error('Stopped.'));
  process.once('SIGUSR2', hear);
  t.after(() => process.removeListener('SIGUSR2', hear));
  const items = Array.from({ length: 10_000 }, (_, n) => n);
  const begun: number[] = [];
  const work = async (n: number): Promise<void> => {
    begun.push(n);
    if (n === 0) process.kill(process.pid, 'SIGUSR2');
  };
  await assert.rejects(mapLimit(items, 4, work, stop.signal), /Stopped\./);
  assert.ok(begun.length < items.length, `${begun.length} items were begun`);
});
