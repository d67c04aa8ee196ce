import { createRepository } from '../../git/create.ts';
import { findRepository } from '../../git/layout.ts';
import { gitProgram, output, type RunGit } from '../../git/program.ts';
import type { Repository } from '../../git/types.ts';
import { inputRow } from '../../phase2/rows.ts';
import type { Files, Oid } from '../../shared/files.ts';
import type { World } from '../../shared/main.ts';
import { statePath } from '../../state/current.ts';
import { emptyNightRecord } from '../../state/night-record.ts';
import { stateRef, writeStateCommit } from '../../state/ref.ts';
import { snapshotOf } from '../../state/snapshot.ts';
import { inputFiles, replaceInputs } from '../../workspace/inputs.ts';
import { project } from '../../workspace/scope.ts';
import { nightAt } from '../load/days.ts';
import type { NightBooks } from './year.ts';

const branch = 'refs/heads/main';
const author = { name: 'commit-to-memory', email: 'bench@example.org' };

/** A repository that gets the two commits of every night: the inputs on the branch, and the state. */
export interface History {
  commit(books: NightBooks): Promise<void>;
  /** Packs everything as `git gc` does. @returns bytes on disk. */
  packed(): Promise<number>;
}

export async function openHistory(folder: string, { env }: Pick<World, 'env'>): Promise<History> {
  const repository = await createRepository(folder, { branch: 'main', env });
  const git = gitProgram(await findRepository(folder), env);
  let files: Files = new Map();
  return {
    async commit(books) {
      files = await commitBooks(repository, files, books);
    },
    packed: () => packedBytes(git),
  };
}

/**
 * The inputs of a night's selection on the branch, and its state.
 * @param files of the branch below `memories/`, as the night before left them.
 * @returns what they are now.
 */
export async function commitBooks(repository: Repository, files: Files, books: NightBooks): Promise<Files> {
  const { night, state, chosen } = books;
  const text = snapshotOf(state);
  const inputs = new Map(
    chosen.map(({ scope, chosen: outputs }) => [scope, inputFiles(outputs.flatMap((one) => inputRow(one) ?? []))]),
  );
  const next = replaceInputs(files, inputs);
  const tip = await commitInputs(repository, new Map([...changesOf(files, next), [statePath, text]]), night);
  const baseline = new Map([...inputs.keys()].map((scope) => [scope, project(next, scope)]));
  const tree = { text, night: emptyNightRecord, baseline, reviewed: baseline, closed: new Map() };
  const expected = await repository.readRef(stateRef);
  const save = { expected, proposed: tip, tree, at: nightAt(night), author, message: `state: night ${night}\n` };
  await repository.swapRef(stateRef, expected, await writeStateCommit(repository, save));
  return next;
}

async function commitInputs(
  repository: Repository,
  changes: ReadonlyMap<string, string | null>,
  night: number,
): Promise<Oid> {
  const base = await repository.readRef(branch);
  const parents = base === null ? [] : [base];
  const commit = { base, parents, changes, message: `memory: night ${night}\n`, author, at: nightAt(night) };
  const tip = await repository.writeCommit(commit);
  await repository.swapRef(branch, base, tip);
  return tip;
}

function changesOf(before: Files, after: Files): Map<string, string | null> {
  const changes = new Map<string, string | null>();
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const text = after.get(path) ?? null;
    if (text !== (before.get(path) ?? null)) changes.set(path, text);
  }
  return changes;
}

async function packedBytes(git: RunGit): Promise<number> {
  await output(git, ['repack', '-a', '-d', '--quiet']);
  await output(git, ['prune-packed', '--quiet']);
  const counted = (await output(git, ['count-objects', '-v'])).toString('utf8');
  return 1_024 * Number(/^size-pack: (\d+)$/m.exec(counted)?.[1] ?? Number.NaN);
}
