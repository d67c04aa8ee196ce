import type { Oid } from '../shared/files.ts';
import { explain, overwriteError } from './errors.ts';
import type { Layout } from './layout.ts';
import { type ObjectFormat, oidOf, shownPath } from './objects.ts';
import { fieldsOf, output, type RunGit } from './program.ts';
import { lockError } from './ref-name.ts';
import { type Leaf, sameLeaf, standingAt } from './standing.ts';
import type { TreeChange } from './tree-read.ts';

/** Paths at or below the given raw ones that differ from HEAD in index or working tree, or are untracked. */
export async function programUncommitted(git: RunGit, paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const status = ['status', '--porcelain=v2', '-z', '--untracked-files=all', '--no-renames', '--'];
  return fieldsOf(await output(git, [...status, ...paths.map(shownPath)])).flatMap((field) => {
    const skipped = fieldsBeforePath[field[0] ?? ''];
    return skipped === undefined ? [] : [field.split(' ').slice(skipped).join(' ')];
  });
}

/** How many fields stand before the path in a line of `--porcelain=v2`, by the line's first character. */
const fieldsBeforePath: Readonly<Record<string, number>> = { '1': 8, u: 10, '?': 1 };

/**
 * A two-tree merge: all is compared before anything is written, and what differs from `from` is never overwritten. Files
 * that a refresh which was killed had written already are taken as they are.
 */
export async function programRefresh(
  git: RunGit,
  layout: Layout,
  from: Oid | null,
  to: Oid,
  changes: readonly TreeChange[],
): Promise<void> {
  await git(['update-index', '-q', '--refresh']);
  const merge = ['read-tree', '-m', '-u', from ?? emptyTreeOid(layout.format), to];
  let { code, stderr } = await git(merge);
  if (code !== 0 && (await stageWritten(git, layout, changes))) ({ code, stderr } = await git(merge));
  if (code === 0) return;
  const lock = /'([^'\n]{1,4096}index\.lock)': File exists/.exec(stderr)?.[1];
  if (lock !== undefined) throw lockError(lock, null);
  const path = /(?:Entry|file|Updating|directory|update) '([^'\n]{1,4096})'/.exec(stderr)?.[1];
  if (path !== undefined) throw overwriteError(path, to);
  throw explain('The working tree could not be brought to the new commit', new Error(stderr));
}

/** Stages the files that are as in the new commit while the index still has the old one. @returns whether any was. */
async function stageWritten(git: RunGit, layout: Layout, changes: readonly TreeChange[]): Promise<boolean> {
  const { workTree, format } = layout;
  if (workTree === null) return false;
  const staged = await stagedLeaves(git);
  const lines: string[] = [];
  for (const { path, before, after } of changes) {
    if (!sameLeaf(staged.get(path), before)) continue;
    const standing = await standingAt(layout, workTree, path, after === null ? [] : [after]);
    if (standing === 'other' || !sameLeaf(standing === 'absent' ? null : standing, after)) continue;
    const { mode, oid } = after ?? { mode: '0', oid: '0'.repeat(format === 'sha1' ? 40 : 64) };
    lines.push(`${mode} ${oid}\t${path}\0`);
  }
  if (lines.length === 0) return false;
  await output(git, ['update-index', '-z', '--index-info'], Buffer.from(lines.join(''), 'latin1'));
  return true;
}

async function stagedLeaves(git: RunGit): Promise<ReadonlyMap<string, Leaf>> {
  const fields = fieldsOf(await output(git, ['ls-files', '--stage', '-z']));
  return new Map(
    fields.map((field) => {
      const [head = '', path = ''] = splitOnce(field, '\t');
      const [mode = '', oid = ''] = head.split(' ');
      return [path, { mode, oid }];
    }),
  );
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)];
}

function emptyTreeOid(format: ObjectFormat): Oid {
  return oidOf({ type: 'tree', bytes: Buffer.alloc(0) }, format);
}
