import { unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Repository } from '../git/types.ts';
import { MemoryError, messageOf } from '../shared/errors.ts';
import { statePath } from '../state/current.ts';
import { wayBackOfCopy } from '../state/errors.ts';
import { isGenerated } from '../workspace/layout.ts';
import { repair } from '../workspace/repair.ts';
import { type CheckBasis, contextOf } from './run.ts';
import type { Tree } from './tree.ts';

/**
 * Mends in the working tree what code can mend: references, numbers, markers, white space, open fences, invisible
 * characters. What code makes itself, the state and whatever is no plain file stay as they are.
 * @throws MemoryError without a state: then nothing says whose a line is.
 */
export async function mend(
  { workTree }: Repository,
  tree: Tree,
  basis: CheckBasis,
): Promise<{ readonly tree: Tree; readonly paths: readonly string[] }> {
  if (workTree === null)
    throw new MemoryError('A bare repository has no files to mend.', 'Run it in a clone with a working tree.');
  const context = await contextOf(tree, basis);
  if (context === null) throw new MemoryError('Without a readable state nothing can be mended.', wayBackOfCopy);
  const memories = new Map([...tree.files].filter(([path]) => path !== statePath));
  const mended = repair(memories, context);
  const paths = [...new Set([...memories.keys(), ...mended.keys()])].filter(
    (path) => !isGenerated(path) && memories.get(path) !== mended.get(path),
  );
  const files = new Map(tree.files);
  for (const path of paths) {
    const text = mended.get(path);
    try {
      await (text === undefined ? unlink(join(workTree, path)) : writeFile(join(workTree, path), text));
    } catch (error) {
      throw new MemoryError(`${path} cannot be mended: ${messageOf(error)}.`, 'Check who may write memories/.', {
        cause: error,
      });
    }
    if (text === undefined) files.delete(path);
    else files.set(path, text);
  }
  return { tree: { ...tree, files }, paths };
}
