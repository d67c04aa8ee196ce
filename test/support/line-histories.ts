import { execFileSync } from 'node:child_process';
import type { TestContext } from 'node:test';
import { openRepository } from '../../scripts/git/open.ts';
import type { Repository } from '../../scripts/git/types.ts';
import { isoTime } from '../../scripts/shared/clock.ts';
import type { State } from '../../scripts/state/database.ts';
import { emptyNightRecord, type NightRecord } from '../../scripts/state/night-record.ts';
import { loadStateRef, saveStateRef, stateRef } from '../../scripts/state/ref.ts';
import { recordRun } from '../../scripts/state/runs.ts';
import { emptyState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { handbookPath } from '../../scripts/workspace/layout.ts';
import { aHandbook, type BlockOf } from './handbooks.ts';
import { aRepository, env, git, writeFiles } from './repository.ts';

export const shop = 'git.example.test/acme/shop';

/** The bot that writes a run's commits. */
const bot = 'commit-to-memory <bot@example.org>';

/** The n-th day of these histories, in epoch seconds; day 0 is 2026-01-01. */
export function dayOf(n: number): number {
  return 1_767_225_600 + n * 86_400;
}

/** A repository whose handbook changes day by day, by people and by runs that the state records. */
export interface LineHistory {
  readonly dir: string;
  readonly repository: Repository;
  readonly state: State;
  /** Commits the handbook, made of one block unless it is a text. @returns the commit. */
  person(name: string, handbook: readonly string[] | string, message?: string): string;
  /** A night: two commits with the run's trailer, recorded on the state ref with what it was proposed as. */
  run(id: string, handbook: readonly string[] | string, pullRequest?: NightRecord['pullRequest']): Promise<string>;
  /** Any git command, on the day of the next commit. @returns its output. */
  git(...args: string[]): string;
}

/** A run's whole id. */
export function runId(id: string): string {
  return id.repeat(16).slice(0, 16);
}

export function handbookOf(knowledge: readonly string[], more: Partial<BlockOf> = {}): string {
  return aHandbook({ repo: shop, knowledge, ...more });
}

export async function aLineHistory(t: TestContext): Promise<LineHistory> {
  const dir = aRepository(t);
  const repository = await openRepository(dir, { env });
  const state = await emptyState();
  let today = 0;
  const commit = (author: string, message: string, files: Readonly<Record<string, string>>) => {
    today += 1;
    writeFiles(dir, files);
    at(dir, today, author, 'add', '--all');
    at(dir, today, author, 'commit', '--quiet', '--allow-empty', '--message', message);
    return git(dir, 'rev-parse', 'HEAD');
  };
  const textOf = (handbook: readonly string[] | string) =>
    typeof handbook === 'string' ? handbook : handbookOf(handbook);
  return {
    dir,
    repository,
    state,
    person: (name, handbook, message = `${name} edits`) =>
      commit(`${name} <${name}@example.org>`, message, { [handbookPath]: textOf(handbook) }),
    run: async (id, handbook, pullRequest = null) => {
      const message = (subject: string) => `memory: ${subject}\n\nMemory-Run: ${runId(id)}\nMemory-Model: builtin`;
      commit(bot, message('inputs of 1 session'), { 'state.sqlite.json': `run ${id}\n` });
      const tip = commit(bot, message(`learned in ${shop}`), { [handbookPath]: textOf(handbook) });
      const ref = git(dir, 'symbolic-ref', 'HEAD');
      recordRun(state, aRunRow(id, today));
      await record(repository, state, { ref, tip, runId: runId(id), pullRequest, at: dayOf(today) });
      return tip;
    },
    git: (...args) => {
      today += 1;
      return at(dir, today, 'merger <merger@example.org>', ...args);
    },
  };
}

function aRunRow(id: string, today: number) {
  const usage = { phase1: { requests: 1, input: 100, cached: 0, output: 20, micro_usd: 0 } };
  const times = { startedAt: dayOf(today), finishedAt: dayOf(today) };
  return {
    runId: runId(id),
    ...times,
    outcome: 'done',
    counts: {},
    usage,
    models: 'some-model',
    promptsHash: 'p1 p2',
  } as const;
}

interface Reached {
  readonly ref: string;
  readonly tip: string;
  readonly runId: string;
  readonly pullRequest: NightRecord['pullRequest'];
  readonly at: number;
}

/** As a night of a team does: the tip is a parent of the state's commit. */
async function record(repository: Repository, state: State, reached: Reached): Promise<void> {
  const before = await loadStateRef(repository, stateRef);
  const night: NightRecord = {
    ...(before?.tree.night ?? emptyNightRecord),
    recordedTips: { ...before?.tree.night.recordedTips, [reached.ref]: reached.tip },
    pullRequest: reached.pullRequest,
    lastRun: { runId: reached.runId, finishedAt: reached.at },
  };
  await saveStateRef(repository, {
    ref: stateRef,
    expected: before?.oid ?? null,
    proposed: reached.tip,
    tree: { text: snapshotOf(state), night, baseline: new Map(), reviewed: new Map(), closed: new Map() },
    author: { name: 'commit-to-memory', email: 'bot@example.org' },
    at: reached.at,
    message: `state: run ${reached.runId}\n`,
  });
}

function at(dir: string, today: number, author: string, ...args: string[]): string {
  const [, name = '', email = ''] = /^(.*) <(.*)>$/.exec(author) ?? [];
  const time = isoTime(dayOf(today));
  return execFileSync('git', args, {
    cwd: dir,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_AUTHOR_DATE: time,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
      GIT_COMMITTER_DATE: time,
    },
  }).trimEnd();
}
