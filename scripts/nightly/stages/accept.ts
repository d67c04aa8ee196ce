import type { Leaf, Repository } from '../../git/types.ts';
import type { Files, Oid } from '../../shared/files.ts';
import { openStateOfRef, statePath } from '../../state/current.ts';
import { type FilesByScope, treeOfFiles, treeRoots } from '../../state/tree.ts';
import { commitNight, type Made } from '../commits.ts';
import type { Start } from '../start.ts';
import { HandOverError } from './fields.ts';
import { handOvers } from './folder.ts';
import type { ResultFile } from './result-file.ts';
import { refsOnPaper } from './stage.ts';

type Result = Extract<ResultFile, { outcome: 'played' }>;

/** Commits that one night writes at most. */
const mostCommits = 2;

/**
 * What of a result may be pushed. Its commits grow from where the night started and hold plain files of ours alone;
 * then they are made once more from these files, and have to come out the same.
 * @param author as the configuration names it.
 * @throws HandOverError that names the path.
 */
export async function acceptResult(
  repository: Repository,
  start: Start,
  result: Result,
  author: Made['author'],
): Promise<Made> {
  const { tip, state, words } = result;
  if (tip !== null) await checkCommits(repository, start, tip);
  const files = tip === null ? start.standing : await repository.readFiles(tip, ['memories']);
  const books = state === null ? booksOf(start) : await booksAt(repository, state);
  const made: Made = { ...words, ...books, files, author };
  const again = await commitNight(repository, refsOnPaper, start, made);
  const isSame =
    (tip === null ? again.inputs === null : again.tip === tip) && again.state === (state ?? start.stateOid);
  if (!isSame) throw refused('its commits are not what their files make of this start');
  return made;
}

async function checkCommits(repository: Repository, start: Start, tip: Oid): Promise<void> {
  let at = tip;
  for (let depth = 1; ; depth += 1) {
    const { parents } = await repository.readCommit(at);
    const isFirst = parents.length === start.parents.length && parents.every((oid, n) => oid === start.parents[n]);
    const [parent] = parents;
    const isNext = parents.length === 1 && depth < mostCommits;
    if (!isFirst && !isNext) throw refused(`commit ${at.slice(0, 12)} does not grow from what the night started from`);
    await checkPaths(repository, isFirst ? (start.parents.at(-1) ?? null) : (parent ?? null), at);
    if (isFirst || parent === undefined) return;
    at = parent;
  }
}

/** Every path that differs is one of ours, and a plain file. */
async function checkPaths(repository: Repository, before: Oid | null, after: Oid): Promise<void> {
  const old = new Map(before === null ? [] : (await repository.leaves(before, [''])).map((leaf) => [leaf.path, leaf]));
  const fresh = new Map((await repository.leaves(after, [''])).map((leaf) => [leaf.path, leaf]));
  for (const path of new Set([...old.keys(), ...fresh.keys()])) {
    const leaf = fresh.get(path);
    if (isSameLeaf(old.get(path), leaf)) continue;
    const isOurs = path === statePath || path.startsWith('memories/');
    if (!isOurs) throw refused(`it changes ${path}, and a night writes memories/ and ${statePath} alone`);
    if (leaf !== undefined && leaf.kind !== 'file') throw refused(`${path} is no plain file in it (${leaf.kind})`);
  }
}

function isSameLeaf(a: Leaf | undefined, b: Leaf | undefined): boolean {
  return a?.oid === b?.oid && a?.kind === b?.kind;
}

type Books = Pick<Made, 'stateText' | 'batches'> & { readonly baseline: FilesByScope };

function booksOf({ stateText, baseline, night }: Start): Books {
  return { stateText, baseline, batches: night.batches };
}

async function booksAt(repository: Repository, state: Oid): Promise<Books> {
  const odd = (await repository.leaves(state, [''])).find(({ path, kind }) => kind !== 'file' || !isOfTree(path));
  if (odd !== undefined) throw refused(`the state's commit holds ${odd.path} (${odd.kind})`);
  const files: Files = await repository.readFiles(state, [...treeRoots]);
  const { text, baseline, night } = treeOfFiles(files);
  (await openStateOfRef(text)).close();
  return { stateText: text, baseline, batches: night.batches };
}

function isOfTree(path: string): boolean {
  return treeRoots.some((root) => path === root || path.startsWith(`${root}/`));
}

function refused(why: string): HandOverError {
  return new HandOverError(handOvers.bundle, why);
}
