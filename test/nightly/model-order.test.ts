import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Behaviour } from '../support/api-types.ts';
import { api, type Behave, cwdOf, type Nights, shop, sound, startNights } from '../support/model-nights.ts';
import { isExtraction } from '../support/scripted-extractor.ts';
import { threadId } from '../support/written-sessions.ts';

const sessions = Array.from({ length: 10 }, (_, n) => ({
  id: threadId(n + 1),
  cwd: cwdOf[n % 2 === 0 ? shop : api],
  at: `2026-11-28T10:${String(n).padStart(2, '0')}:00Z`,
  happened: [
    { human: n === 4 ? 'nothing of worth' : `Task ${n}` },
    { run: 'make', out: `FACT number ${n} was seen` },
    { human: `do it like ${n} said` },
  ] as const,
}));

/** Holds answers back until `width` wait, or nobody else comes, and lets the last one go first. */
function lastFirst(width: number): { behave: Behave; orders: string[] } {
  const waiting: (() => void)[] = [];
  const orders: string[] = [];
  let arrived = 0;
  const release = () => {
    while (waiting.length > 0) waiting.pop()?.();
  };
  const behave: Behave = async (request, index) => {
    arrived += 1;
    const mine = arrived;
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length >= width) release();
      else setTimeout(() => (arrived === mine ? release() : undefined), 20);
    });
    orders.push(
      isExtraction(request) ? (/rollout_path: \S+?(\d+)\.jsonl/.exec(request.texts[1] ?? '')?.[1] ?? '') : '',
    );
    return sound(request, index);
  };
  return { behave, orders };
}

async function play(t: TestContext, concurrency: number, behave: Behave, config = '') {
  const nights = await startNights(t);
  nights.write(...sessions);
  const { report } = await nights.play({
    at: '2026-11-29T03:00:00Z',
    behave,
    config: `  concurrency: ${concurrency}\n${config}`,
  });
  return { oids: oidsOf(nights), report };
}

function oidsOf(nights: Nights): string {
  return nights.git('for-each-ref', '--format=%(refname) %(objectname)');
}

test('one after the other, eight at once, and in the opposite order: the commits are the same', async (t) => {
  const reversed = lastFirst(8);
  const [one, eight, last] = [await play(t, 1, sound), await play(t, 8, sound), await play(t, 8, reversed.behave)];
  assert.equal(one.report.outcome, 'done');
  const read = reversed.orders.filter((order) => order !== '');
  assert.notDeepEqual(read.slice(0, 8), [...read.slice(0, 8)].sort(), 'the answers did come in another order');
  assert.deepEqual(eight.oids, one.oids);
  assert.deepEqual(last.oids, one.oids);
});

test('a server that first refuses what it cannot do, or a while, changes no commit either', async (t) => {
  const once = (fault: Behaviour): Behave => {
    const seen = new Set<string>();
    return (request, index) => {
      const key = JSON.stringify(request.texts);
      if (seen.has(key)) return sound(request, index);
      seen.add(key);
      return fault;
    };
  };
  const noSchema: Behave = (request, index) =>
    (request.body.response_format as { type?: string } | undefined)?.type === 'json_schema'
      ? {
          status: 400,
          error: { message: "'response_format' of type 'json_schema' is not supported.", param: 'response_format' },
        }
      : sound(request, index);
  const plain = await play(t, 1, sound);
  const busy = { status: 429, error: { message: 'Slow down.' }, headers: { 'retry-after': '0' } };
  assert.deepEqual((await play(t, 8, once(busy))).oids, plain.oids);
  const [single, wide] = [await play(t, 1, noSchema), await play(t, 8, noSchema)];
  assert.deepEqual(wide.oids, single.oids);
});
