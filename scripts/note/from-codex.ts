import { isAbsolute, join } from 'node:path';
import { entriesOf, type Found, type ImportPlace, type Memories, requireFolder, textOf } from './memories.ts';
import { repositoryAt } from './place.ts';

/** A whole handbook may be larger than what is brought in at once: it is taken block by block. */
const handbookBytes = 4_194_304;

/**
 * Codex's own memory: the blocks of its `MEMORY.md` whose folder is in an included repository. The summary and the
 * skills say no repository, so they are brought in only where the person named one; nothing of a skill is run.
 * @param folder `~/.codex/memories`
 */
export async function codexMemories(folder: string, place: ImportPlace): Promise<Memories> {
  await requireFolder(folder);
  const files: Found[] = [];
  const refused: { path: string; why: string }[] = [];
  const handbook = join(folder, 'MEMORY.md');
  const read = await textOf(handbook, handbookBytes);
  if ('why' in read) refused.push({ path: handbook, why: read.why });
  for (const [index, block] of ('why' in read ? [] : blocksIn(read.text)).entries()) {
    const path = `${handbook}, block ${index + 1}`;
    const repo = await repositoryOfBlock(block, place);
    if (typeof repo === 'string') files.push({ path, name: `memory-${titleOf(block)}`, repo, text: block });
    else refused.push({ path, why: repo.why });
  }
  for (const [path, name] of await othersIn(folder)) {
    const other = await textOf(path);
    const repo = namedRepository(place);
    if ('why' in other) refused.push({ path, why: other.why });
    else if (typeof repo === 'string') files.push({ path, name, repo, text: other.text });
    else refused.push({ path, why: repo.why });
  }
  return { files, refused };
}

/** A text without blocks is one. */
function blocksIn(text: string): string[] {
  return text.split(/^(?=# Task Group:)/m).filter((block) => block.trim() !== '');
}

async function repositoryOfBlock(block: string, place: ImportPlace): Promise<string | { readonly why: string }> {
  const folder = /^applies_to:.{0,400}?\bcwd=([^;\n]{1,1000})/m.exec(block)?.[1]?.trim().replace(/^`|`$/g, '');
  const cwd = folder?.replace(/^~(?=\/|$)/, place.home);
  const repo = cwd !== undefined && isAbsolute(cwd) ? await repositoryAt(cwd, place.include, place.checkouts) : null;
  if (repo === null) return namedRepository(place);
  const why = place.whyStays(repo);
  return why === null ? repo : { why };
}

function namedRepository({ named, whyStays }: ImportPlace): string | { readonly why: string } {
  if (named === null) return { why: 'it says no repository that is here: name one with --repository' };
  const why = whyStays(named);
  return why === null ? named : { why };
}

function titleOf(block: string): string {
  return /^# Task Group:[ \t]*(.{1,200})/.exec(block)?.[1] ?? '';
}

async function othersIn(folder: string): Promise<[path: string, name: string][]> {
  const summary = (await entriesOf(folder, 'file')).filter((name) => name === 'memory_summary.md');
  const skills = await entriesOf(join(folder, 'skills'), 'folder');
  const found: [string, string][] = summary.map((name) => [join(folder, name), 'summary']);
  for (const skill of skills) {
    const names = await entriesOf(join(folder, 'skills', skill), 'file');
    if (names.includes('SKILL.md')) found.push([join(folder, 'skills', skill, 'SKILL.md'), `skill-${skill}`]);
  }
  return found;
}
