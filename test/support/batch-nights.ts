import type { TestContext } from 'node:test';
import { openRepository } from '../../scripts/git/open.ts';
import type { BatchRecord } from '../../scripts/model/batch-record.ts';
import { parseIsoTime } from '../../scripts/shared/clock.ts';
import { currentState } from '../../scripts/state/current.ts';
import { type BatchApi, createBatchApi } from './batch-api.ts';
import { cwdOf, type NightOptions, type Nights, type Played, shop, startNights } from './model-nights.ts';
import { env } from './repository.ts';
import { threadId, type WrittenSession } from './written-sessions.ts';

/** Times of a first night and of those after it. */
export const nightAt = (n: number): string =>
  `2026-11-${29 + Math.floor((n - 1) / 2)}T${n % 2 === 1 ? '03' : '23'}:00:00Z`;

export const batchOn = '  batch: true\n';

export interface BatchNights extends Nights {
  readonly api: BatchApi;
  /** A night with batches on, unless the options say otherwise. */
  night(at: string, options?: Partial<NightOptions>): Promise<Played>;
  /** What the state ref has of batches. */
  recorded(): Promise<readonly BatchRecord[]>;
}

/** @param count sessions that were over a day before the first night, each with one fact. */
export async function startBatchNights(t: TestContext, count = 3): Promise<BatchNights> {
  const api = createBatchApi();
  const nights = await startNights(t, 'isomorphic', api);
  nights.write(...Array.from({ length: count }, (_, n) => aSession(n + 1)));
  return {
    ...nights,
    api,
    night(at, options = {}) {
      api.now = parseIsoTime(at) ?? Number.NaN;
      return nights.play({ at, config: batchOn, ...options });
    },
    recorded: async () => {
      const { night } = await currentState(await openRepository(nights.dir, { env }));
      return night?.batches ?? [];
    },
  };
}

export function aSession(n: number, more: WrittenSession['happened'] = [], cwd: string = cwdOf[shop]): WrittenSession {
  const happened = [{ human: `Task ${n}` }, { run: 'make', out: `FACT number ${n} was seen` }, ...more] as const;
  return { id: threadId(n), cwd, at: `2026-11-28T10:0${n}:00Z`, happened };
}
