import type { Oid } from '../shared/files.ts';
import { overwriteError } from './errors.ts';
import type { Layout } from './layout.ts';
import { type ObjectFormat, oidOf, shownPath } from './objects.ts';
import { fieldsOf, output, type RunGit } from './program.ts';
import { lockError } from './ref-name.ts';
import { planRefresh, type Staged } from './refresh-plan.ts';
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
 * Everything is compared before anything is written: the program alone would write over ignored files and bring back
 * deleted ones. Then a two-tree merge, which leaves what is staged elsewhere as it is.
 */
export async function programRefresh(
  git: RunGit,
  layout: Layout,
  from: Oid | null,
  to: Oid,
  changes: readonly TreeChange[],
): Promise<void> {
  const { workTree, format } = layout;
  if (workTree === null) return;
  await git(['update-index', '-q', '--refresh']);
  const staged = await stagedLeaves(git);
  const edited = new Set(fieldsOf(await output(git, ['diff-files', '--name-only', '-z'])));
  const { written } = await planRefresh(workTree, to, changes, staged, async ({ path, after }) => {
    const leaf = staged.get(path);
    if (leaf !== undefined && leaf !== 'conflict' && !edited.has(path)) return leaf;
    return standingAt(layout, workTree, path, after === null ? [] : [after]);
  });
  const ahead = written.filter(({ path, before }) => sameLeaf(asLeaf(staged.get(path)), before));
  if (ahead.length > 0) await output(git, ['update-index', '-z', '--index-info'], indexInfo(ahead, format));
  const { code, stderr } = await git(['read-tree', '-m', '-u', from ?? emptyTreeOid(format), to]);
  if (code === 0) return;
  const lock = /'([^'\n]{1,4096}index\.lock)': File exists/.exec(stderr)?.[1];
  if (lock !== undefined) throw lockError(lock, null);
  const path = /(?:Entry|file|Updating|directory|update) '([^'\n]{1,4096})'/.exec(stderr)?.[1];
  if (path !== undefined) throw overwriteError(path, to);
  throw new Error(stderr);
}

async function stagedLeaves(git: RunGit): Promise<Staged> {
  const fields = fieldsOf(await output(git, ['ls-files', '--stage', '-z']));
  return new Map(
    fields.map((field) => {
      const [head, path] = splitOnce(field, '\t');
      const [mode = '', oid = '', stage = ''] = head.split(' ');
      return [path, stage === '0' ? { mode, oid } : 'conflict'];
    }),
  );
}

function asLeaf(staged: Leaf | 'conflict' | undefined): Leaf | null {
  return staged === undefined || staged === 'conflict' ? null : staged;
}

/** Lines for `update-index --index-info`; a mode of 0 removes. */
function indexInfo(changes: readonly TreeChange[], format: ObjectFormat): Buffer {
  const none = { mode: '0', oid: '0'.repeat(format === 'sha1' ? 40 : 64) };
  const lines = changes.map(({ path, after }) => `${(after ?? none).mode} ${(after ?? none).oid}\t${path}\0`);
  return Buffer.from(lines.join(''), 'latin1');
}

function splitOnce(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + mark.length)];
}

function emptyTreeOid(format: ObjectFormat): Oid {
  return oidOf({ type: 'tree', bytes: Buffer.alloc(0) }, format);
}
