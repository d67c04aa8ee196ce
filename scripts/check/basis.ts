import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { archivedRollouts } from '../archive/rollouts.ts';
import { GitError } from '../git/errors.ts';
import type { Repository } from '../git/types.ts';
import { checkoutsOnDisk } from '../rollout/checkouts.ts';
import { redactedRollouts } from '../rollout/redacted.ts';
import { openRollouts, type Rollouts, type Source } from '../rollout/source.ts';
import type { Config } from '../shared/config-schema.ts';
import { UsageError } from '../shared/errors.ts';
import type { Files, Oid } from '../shared/files.ts';
import { createRedactor } from '../shared/redact.ts';
import { type LoadedState, loadStateRef, stateRef } from '../state/ref.ts';
import { lastNightBefore, lastNightMerged } from './last-night.ts';
import { type AtHand, atHand, openAtHand } from './repositories.ts';
import type { CheckBasis } from './run.ts';
import { parseAllowances, silencePath } from './silence.ts';
import { committedTree, type Tree, textBeside, workingTree } from './tree.ts';

/** What the command line asks for. */
export interface CheckWishes {
  /** A whole commit id; null: the working tree, or HEAD. */
  readonly tree: string | null;
  readonly committed: boolean;
  /** A branch, a commit id or a folder. */
  readonly base: string | null;
  readonly repositories: readonly string[];
  readonly sources: readonly Source[];
  readonly cwd: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What is to be judged, and everything that it is judged by. Nothing of the judged tree decides over it. */
export async function basisOf(
  repository: Repository,
  config: Config,
  wishes: CheckWishes,
): Promise<{ readonly tree: Tree; readonly basis: CheckBasis }> {
  const { oid } = await repository.head();
  const named = namedCommit(wishes.tree);
  const isCommitted = named !== null || wishes.committed || repository.workTree === null;
  const tree =
    isCommitted || repository.workTree === null
      ? await committedTree(repository, named ?? oid)
      : await workingTree(repository.workTree);
  const loaded = await loadStateRef(repository, stateRef);
  const basis: CheckBasis = {
    stateOfRef: loaded?.tree.text ?? null,
    lastNight: await (named === null
      ? lastNight(repository, loaded, isCommitted)
      : lastNightBefore(repository, loaded?.tree.night ?? null, named, oid)),
    audience: config.audience,
    redactor: createRedactor(wishes.env),
    base: await baseTree(repository, wishes),
    rollouts: await rolloutsOf(repository, config, wishes),
    repositories: await repositoriesOf(repository, oid, wishes),
    allowances: parseAllowances(await textBeside(repository, oid, silencePath)),
  };
  return { tree, basis };
}

function namedCommit(named: string | null): Oid | null {
  if (named === null || isOid(named)) return named;
  throw new UsageError(`--tree does not take “${named}”.`, 'It takes a whole commit id: git rev-parse <branch>.');
}

function isOid(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** The memory as the last night left it on this branch; without its record what HEAD holds, for what is not committed. */
async function lastNight(
  repository: Repository,
  loaded: LoadedState | null,
  isCommitted: boolean,
): Promise<Files | null> {
  const head = await repository.head();
  const night = loaded?.tree.night ?? null;
  const tip = head.kind === 'branch' ? night?.recordedTips[head.ref] : undefined;
  const merged = tip === undefined && head.oid !== null ? await lastNightMerged(repository, night, head.oid) : null;
  const from = tip ?? merged ?? (isCommitted ? null : head.oid);
  return from === null ? null : repository.readFiles(from, ['memories']);
}

async function baseTree(repository: Repository, { base, cwd }: CheckWishes): Promise<Tree | null> {
  if (base === null) return null;
  const folder = resolve(cwd, base);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return workingTree(folder);
  const commit = await commitNamed(repository, base);
  if (commit !== null) return committedTree(repository, commit);
  throw new UsageError(`--base does not take “${base}”.`, 'It takes a branch, a whole commit id or a folder.');
}

async function commitNamed(repository: Repository, name: string): Promise<Oid | null> {
  if (isOid(name)) return name;
  if (name === 'HEAD') return (await repository.head()).oid;
  for (const prefix of ['', 'refs/heads/', 'refs/tags/', 'refs/remotes/', 'refs/remotes/origin/']) {
    const ref = `${prefix}${name}`;
    if (!ref.startsWith('refs/')) continue;
    try {
      const oid = await repository.readRef(ref);
      if (oid !== null) return oid;
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
    }
  }
  return null;
}

/** Sessions that were named, else those of the rollouts ref, where this repository has it. */
async function rolloutsOf(repository: Repository, config: Config, wishes: CheckWishes): Promise<Rollouts | null> {
  const redactor = createRedactor(wishes.env);
  if (wishes.sources.length > 0) {
    const place = { include: config.include, checkouts: checkoutsOnDisk(), home: wishes.home };
    return redactedRollouts(openRollouts(wishes.sources, place), redactor);
  }
  const tip = await repository.readRef(config.rollouts.ref);
  return tip === null ? null : redactedRollouts(archivedRollouts(repository, tip), redactor);
}

/** Those that were named, and this one, where the memory lives in the repository that it is about. */
async function repositoriesOf(repository: Repository, head: Oid | null, wishes: CheckWishes): Promise<AtHand[]> {
  const named = await Promise.all(wishes.repositories.map((folder) => openAtHand(folder, wishes.env)));
  return head === null ? named : [...named, await atHand(repository, head)];
}
