import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { phase1Spec } from '../../scripts/nightly/flags.ts';
import { phase1Command } from '../../scripts/nightly/phase1-command.ts';
import { isInShard } from '../../scripts/shared/shard.ts';
import { type ChildNights, startChildNights } from './child-nights.ts';
import { type Ended, playedHere, ranHere } from './nights.ts';
import { git, temporaryFolder } from './repository.ts';
import { threadId, type WrittenSession } from './written-sessions.ts';

/** `npm run phase1 -- …` inside this process. */
export function phase1Here(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return ranHere(phase1Spec, phase1Command, args, env);
}

/** The clock of these nights. */
export const at = { CTM_CLOCK: '2026-11-30T03:00:00Z' };

export interface ShardNights extends ChildNights {
  /** The same repository once more, untouched: equal nights in both give equal oids. */
  twin(): string;
  shard(text: string, ...args: string[]): Promise<Ended>;
  night(dir: string, ...args: string[]): Promise<Ended>;
}

/** A repository, a model's server and sessions that every process on this machine sees. @param config more of `model`. */
export async function startShardNights(t: TestContext, config = ''): Promise<ShardNights> {
  const nights = await startChildNights(t, config);
  return {
    ...nights,
    twin: () => {
      const dir = join(temporaryFolder(t), 'twin');
      cpSync(nights.dir, dir, { recursive: true });
      return dir;
    },
    shard: (text, ...args) => phase1Here(['--repo', nights.dir, '--shard', text, ...args], at),
    night: (dir, ...args) => playedHere(['--repo', dir, ...args], at),
  };
}

/** A session that teaches a preference and a fact. */
export function teaching(n: number, cwd: string, ask = `Task ${n}`): WrittenSession {
  const happened = [
    { human: ask },
    { run: 'make', out: `FACT number ${n} was seen` },
    { human: `always use tool ${n}` },
    { says: 'Done.' },
  ] as const;
  return { id: threadId(n), cwd, at: `2026-11-29T10:${String(n).padStart(2, '0')}:00Z`, happened };
}

/** Numbers of sessions, of those from 1, that are of a part. */
export function numbersIn(index: number, count: number, among = 12): number[] {
  const numbers = Array.from({ length: among }, (_, n) => n + 1);
  return numbers.filter((n) => isInShard(threadId(n), { index, count }));
}

/** Branch and state, as oids. */
export function oidsOf(dir: string): string {
  return git(dir, 'for-each-ref', '--format=%(refname) %(objectname)');
}
