import fs from 'node:fs';
import git from 'isomorphic-git';
import type { Oid } from '../shared/files.ts';
import type { ObjectType, RawObject, ReadObjects } from './objects.ts';

/**
 * isomorphic-git's only door: reading objects, loose and packed, and `.gitignore`. It does not write for us, see
 * `loose-objects.ts` and `index-file.ts`.
 */
export function isomorphicReader(gitDir: string): ReadObjects {
  let cache = {};
  const readOne = async (oid: Oid): Promise<RawObject | null> => {
    try {
      const found = await git.readObject({ fs, gitdir: gitDir, oid, format: 'content', cache });
      if (found.format !== 'content') throw new Error(`${oid} came back as ${found.format}`);
      return { type: found.type as ObjectType, bytes: Buffer.from(found.object) };
    } catch (error) {
      if (error instanceof git.Errors.NotFoundError) return null;
      throw error;
    }
  };
  return async (oids) => {
    const objects: (RawObject | null)[] = [];
    for (const oid of oids) {
      const object = await readOne(oid);
      if (object === null) cache = {};
      objects.push(object ?? (await readOne(oid)));
    }
    return objects;
  };
}

/** Whether a path of the working tree is ignored; `filepath` as text. */
export function isIgnored(workTree: string, gitDir: string, filepath: string): Promise<boolean> {
  return git.isIgnored({ fs, dir: workTree, gitdir: gitDir, filepath });
}
