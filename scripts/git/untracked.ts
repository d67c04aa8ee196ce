import { readdir } from 'node:fs/promises';
import { isIgnored } from './isomorphic.ts';
import { type Layout, lstatOrNull } from './layout.ts';
import { fromRaw } from './objects.ts';
import { placeOf } from './standing.ts';

/** Files at or below raw paths that are neither in `known` nor ignored; a repository inside shows as `folder/`. */
export async function untrackedAt(
  layout: Layout,
  workTree: string,
  paths: readonly string[],
  known: ReadonlySet<string>,
): Promise<string[]> {
  const found: string[] = [];
  const visit = async (raw: string): Promise<void> => {
    const place = placeOf(workTree, raw);
    const stats = await lstatOrNull(place);
    if (stats === null || known.has(raw)) return;
    const folder = stats.isDirectory();
    if (await isIgnored(workTree, layout.gitDir, fromRaw(raw) ?? raw)) return;
    if (!folder) {
      found.push(raw);
      return;
    }
    const names = (await readdir(place, { encoding: 'buffer' })).map((name) => name.toString('latin1')).sort();
    if (names.includes('.git')) found.push(`${raw}/`);
    else for (const name of names) await visit(`${raw}/${name}`);
  };
  for (const path of paths) await visit(path);
  return found;
}
