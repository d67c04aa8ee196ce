import { readFile, rm, stat } from 'node:fs/promises';
import type { Oid } from '../shared/files.ts';
import { explain, GitError } from './errors.ts';
import { findRepository } from './layout.ts';
import { type Environment, gitProgram, isMissingProgram, output, type RunGit } from './program.ts';
import { checkedOid, checkedRef } from './ref-name.ts';
import type { Repository } from './types.ts';

/** Bytes of the largest bundle that is read: one that is larger is made to harm. */
const largestBundle = 512 * 1024 * 1024;

/**
 * Writes commits, with what they need beside the known ones, as a Git bundle.
 * @param heads by the ref's name in the bundle; the repository's own refs are as before afterwards.
 * @param known commits that whoever reads the bundle has.
 * @throws GitError where the git program is not installed.
 */
export async function writeBundle(
  repository: Repository,
  env: Environment,
  file: string,
  heads: ReadonlyMap<string, Oid>,
  known: readonly Oid[],
): Promise<void> {
  const git = await programFor(repository, env);
  for (const [ref, oid] of heads) await repository.swapRef(ref, await repository.readRef(ref), oid);
  try {
    const without = known.map((oid) => `^${checkedOid(oid)}`);
    await run(git, ['bundle', 'create', '--quiet', file, ...[...heads.keys()].map(checkedRef), ...without]);
  } finally {
    for (const ref of heads.keys()) await repository.swapRef(ref, await repository.readRef(ref), null);
  }
}

/**
 * Takes a bundle's objects into the repository, every one checked; no ref is moved.
 * @returns its heads, by the ref's name in the bundle.
 * @throws GitError for a file that is no bundle, is damaged or too large, or needs commits that are not here.
 */
export async function readBundle(
  repository: Repository,
  env: Environment,
  file: string,
): Promise<ReadonlyMap<string, Oid>> {
  const { size } = await stat(file);
  if (size > largestBundle) throw unfit(`is larger than ${largestBundle} bytes`);
  const bytes = await readFile(file);
  const { heads, packAt } = headerOf(bytes);
  const git = await programFor(repository, env);
  const indexPack = ['index-pack', '--stdin', '--fix-thin', '--strict', `--max-input-size=${largestBundle}`];
  try {
    await output(git, indexPack, bytes.subarray(packAt));
  } catch (error) {
    throw explain('The bundle of the night cannot be taken in', error);
  }
  for (const oid of heads.values()) await repository.readCommit(oid);
  return heads;
}

/** Leaves nothing of an earlier night behind. */
export async function removeBundle(file: string): Promise<void> {
  await rm(file, { force: true });
}

async function programFor(repository: Repository, env: Environment): Promise<RunGit> {
  const git = gitProgram(await findRepository(repository.workTree ?? repository.commonDir), env);
  await run(git, ['version']);
  return git;
}

async function run(git: RunGit, args: readonly string[]): Promise<void> {
  try {
    await output(git, args);
  } catch (error) {
    if (!isMissingProgram(error)) throw explain('The bundle of the night cannot be written', error);
    throw new GitError(
      'The stages of a night hand over a Git bundle, which needs the git program.',
      'Install it (https://git-scm.com), or play the night in one process: without --stage.',
    );
  }
}

const headerLimit = 65_536;

/** Signature, capabilities (`@…`), what is needed (`-<oid> …`), heads (`<oid> <ref>`), an empty line, the pack. */
function headerOf(bytes: Buffer): { heads: Map<string, Oid>; packAt: number } {
  const text = bytes.toString('latin1', 0, headerLimit);
  const end = text.indexOf('\n\n');
  const [signature = '', ...lines] = text.slice(0, Math.max(0, end)).split('\n');
  if (!/^# v[23] git bundle$/.test(signature)) throw unfit('is no Git bundle');
  const heads = new Map<string, Oid>();
  for (const line of lines) {
    if (line.startsWith('@') || line.startsWith('-')) continue;
    const [oid = '', ref = ''] = line.split(' ');
    heads.set(checkedRef(ref), checkedOid(oid));
  }
  return { heads, packAt: end + 2 };
}

function unfit(why: string): GitError {
  return new GitError(`The bundle of the night ${why}.`, 'Run the workflow again: re-run all jobs.');
}
