import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Oid } from '../shared/files.ts';
import type { Layout } from './layout.ts';

/** What a ref holds (null: there is none), or undefined where the git program has to be asked. */
export type PlainRef = Oid | null | undefined;

/**
 * A ref as Git's files have it, loose or else packed: to read them costs a hundredth of starting the git program, which
 * is left to say what a symbolic or damaged ref is, and to know other ways of keeping refs.
 */
export async function plainRef(layout: Layout, ref: string): Promise<PlainRef> {
  if (!isPlain(layout)) return undefined;
  try {
    const loose = await textAt(join(layout.gitDir, ref));
    if (loose !== null) return oidIn(loose.replace(/\n$/, ''), layout);
    const packed = `\n${(await textAt(join(layout.gitDir, 'packed-refs'))) ?? ''}`;
    const end = packed.indexOf(` ${ref}\n`);
    return end < 0 ? null : oidIn(packed.slice(packed.lastIndexOf('\n', end) + 1, end), layout);
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code === 'string') return undefined;
    throw error;
  }
}

/** The branch that is checked out, born or not; undefined where the git program has to be asked. */
export async function plainHead(layout: Layout): Promise<string | undefined> {
  if (!isPlain(layout)) return undefined;
  try {
    return /^ref: (refs\/heads\/[^\s\\~^:?*[]{1,1000})\n$/.exec(
      await readFile(join(layout.gitDir, 'HEAD'), 'utf8'),
    )?.[1];
  } catch (error) {
    if (typeof (error as NodeJS.ErrnoException).code === 'string') return undefined;
    throw error;
  }
}

/** A linked worktree has some refs of its own, and refs may stand in tables. */
function isPlain({ gitDir, commonDir, config }: Layout): boolean {
  return gitDir === commonDir && (config.get('extensions.refstorage') ?? 'files') === 'files';
}

/** @returns null where no such file is, or a folder in its place. */
async function textAt(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

function oidIn(text: string, { format }: Layout): Oid | undefined {
  return text.length === (format === 'sha1' ? 40 : 64) && /^[0-9a-f]+$/.test(text) && !/^0+$/.test(text)
    ? text
    : undefined;
}
