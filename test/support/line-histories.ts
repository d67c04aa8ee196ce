import type { TestContext } from 'node:test';
import { openRepository } from '../../scripts/git/open.ts';
import type { CommitSpec, Repository } from '../../scripts/git/types.ts';
import type { State } from '../../scripts/state/database.ts';
import { emptyNightRecord, type NightRecord } from '../../scripts/state/night-record.ts';
import { loadStateRef, saveStateRef, stateRef } from '../../scripts/state/ref.ts';
import { recordRun } from '../../scripts/state/runs.ts';
import { emptyState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { handbookPath } from '../../scripts/workspace/layout.ts';
import { aHandbook, type BlockOf } from './handbooks.ts';
import { aRepository, env } from './repository.ts';

export const shop = 'git.example.test/acme/shop';

/** Who writes a run's commits, and who presses the button. */
const bot = 'commit-to-memory';
const merger = 'merger';

/** The n-th day of these histories, in epoch seconds; day 0 is 2026-01-01. */
export function dayOf(n: number): number {
  return 1_767_225_600 + n * 86_400;
}

/** A repository whose handbook changes day by day, by people and by runs that the state records. */
export interface LineHistory {
  readonly dir: string;
  readonly repository: Repository;
  readonly state: State;
  head(): Promise<string>;
  /** Commits the handbook, made of one block unless it is a text. @returns the commit. */
  person(name: string, handbook: readonly string[] | string, message?: string): Promise<string>;
  /** Commits any file. */
  file(name: string, path: string, text: string): Promise<string>;
  /** A night: two commits with the run's trailer, recorded on the state ref with what it was proposed as. */
  run(id: string, handbook: readonly string[] | string, pullRequest?: NightRecord['pullRequest']): Promise<string>;
  /** Goes on on another branch, made here where there is none. */
  on(branch: string): Promise<void>;
  /** Brings what a commit holds: as a merge, as one commit, or as copies of its last two. @returns the new commit. */
  bring(how: 'merge' | 'squash' | 'rebase', tip: string, message?: string): Promise<string>;
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
  // Without the program no process is started for a read.
  const repository = await openRepository(dir, { env, backend: 'isomorphic' });
  const state = await emptyState();
  let today = 0;
  let ref = 'refs/heads/main';
  const head = () => repository.readRef(ref);
  const commit = async (spec: Pick<CommitSpec, 'base' | 'parents' | 'changes' | 'message'>, name: string) => {
    today += 1;
    const author = { name, email: `${name}@example.org` };
    const next = await repository.writeCommit({ ...spec, author, at: dayOf(today) });
    await repository.swapRef(ref, await head(), next);
    return next;
  };
  const write = async (name: string, message: string, path: string, text: string) => {
    const base = await head();
    return commit({ base, parents: base === null ? [] : [base], changes: new Map([[path, text]]), message }, name);
  };
  const copy = async (of: string, parents: readonly string[], message: string) =>
    commit({ base: of, parents, changes: new Map(), message }, merger);
  const textOf = (handbook: readonly string[] | string) =>
    typeof handbook === 'string' ? handbook : handbookOf(handbook);
  return {
    dir,
    repository,
    state,
    head: async () => (await head()) ?? '',
    person: (name, handbook, message = `${name} edits`) => write(name, message, handbookPath, textOf(handbook)),
    file: (name, path, text) => write(name, `${name} adds a file`, path, text),
    run: async (id, handbook, pullRequest = null) => {
      const message = (subject: string) => `memory: ${subject}\n\nMemory-Run: ${runId(id)}\nMemory-Model: builtin\n`;
      await write(bot, message('inputs of 1 session'), 'state.sqlite.json', `run ${id}\n`);
      const tip = await write(bot, message(`learned in ${shop}`), handbookPath, textOf(handbook));
      recordRun(state, aRunRow(id, today));
      await record(repository, state, { ref, tip, runId: runId(id), pullRequest, at: dayOf(today) });
      return tip;
    },
    on: async (branch) => {
      const from = await head();
      ref = `refs/heads/${branch}`;
      if ((await head()) === null) await repository.swapRef(ref, null, from);
    },
    bring: async (how, tip, message = how) => {
      const base = (await head()) ?? '';
      if (how === 'merge') return copy(tip, [base, tip], message);
      if (how === 'squash') return copy(tip, [base], message);
      const last = await repository.readCommit(tip);
      const before = await repository.readCommit(last.parents[0] ?? '');
      const copied = await copy(before.oid, [base], before.message);
      return copy(tip, [copied], last.message);
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
