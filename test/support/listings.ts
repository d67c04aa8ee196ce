import { mkdirSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { writeRollout } from '../../scripts/rollout/canonical.ts';
import { checkoutsOnDisk } from '../../scripts/rollout/checkouts.ts';
import type { ListingFolder } from '../../scripts/rollout/kept.ts';
import { redactedRollouts } from '../../scripts/rollout/redacted.ts';
import { openRollouts, type Rollouts, type Source } from '../../scripts/rollout/source.ts';
import type { Place } from '../../scripts/rollout/thread.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { temporaryFolder } from './repository.ts';

/** Sources on disk, listed again and again. */
export interface Listings {
  readonly folder: string;
  /** Where listings are kept. */
  readonly cache: string;
  /** One JSON text a line, in a file that has long been as it is. A file that is there is replaced. */
  write(name: string, lines: readonly (object | string)[]): string;
  /** As the next night would. @param wishes what it has of its own. */
  next(wishes?: Wishes): Counted;
  /** The text of every kept listing. */
  kept(): string[];
}

export interface Wishes {
  readonly sources?: readonly Source[];
  readonly place?: Partial<Place>;
  readonly env?: Readonly<Record<string, string>>;
  readonly program?: string;
  /** Of the process; null for one that only looks. */
  readonly token?: string | null;
  /** Without a kept listing. */
  readonly isFresh?: boolean;
}

export interface Counted extends Rollouts {
  /** How many sessions were read so far. */
  readonly count: () => number;
}

export function listingsOf(t: TestContext, sources: (folder: string) => readonly Source[]): Listings {
  const folder = temporaryFolder(t);
  const cache = join(temporaryFolder(t), 'cache/listings');
  let written = 0;
  let processes = 0;
  return {
    folder,
    cache,
    write(name, lines) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      const text = lines.map((line) => (typeof line === 'string' ? line : `${JSON.stringify(line)}\n`)).join('');
      writeFileSync(`${path}.new`, text);
      written += 1;
      utimesSync(`${path}.new`, 1_577_836_800 + written, 1_577_836_800 + written);
      renameSync(`${path}.new`, path);
      return path;
    },
    next({ program = 'this one', token, isFresh = false, ...wishes } = {}) {
      processes += 1;
      const own: ListingFolder = { folder: cache, program, token: token === undefined ? `p${processes}` : token };
      const place = { include: [], checkouts: checkoutsOnDisk(), home: '/home/dana', ...wishes.place };
      const all = openRollouts(wishes.sources ?? sources(folder), place, isFresh ? undefined : own);
      let reads = 0;
      const counted = redactedRollouts(all, createRedactor(wishes.env ?? {})).cleaned({
        rollout: (rollout) => {
          reads += 1;
          return rollout;
        },
        text: (text) => text,
        key: () => 'counted',
      });
      return { ...counted, count: () => reads };
    },
    kept: () => readdirSync(cache).map((name) => readFileSync(join(cache, name), 'utf8')),
  };
}

/** All that a caller can see. */
export async function seenBy(rollouts: Rollouts): Promise<object> {
  const { found, ignored } = await rollouts.list();
  const texts: string[] = [];
  for (const { thread } of found) texts.push(writeRollout(await rollouts.read(thread.id)));
  return { found, ignored, texts };
}
