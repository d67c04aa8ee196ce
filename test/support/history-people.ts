import type { Files, Oid } from '../../scripts/shared/files.ts';
import { handbookPath, memorySummaryPath } from '../../scripts/workspace/layout.ts';
import { mergeMemories } from '../../scripts/workspace/merge.ts';
import { branchRef, filesAt, mainRef, person, type World } from './history-world.ts';
import { ancestors, onServer } from './memory-git.ts';

/** A commit of a person on a branch: what they make of its files. */
export async function commitTo(
  world: World,
  ref: string,
  change: (files: Files) => ReadonlyMap<string, string | null>,
): Promise<void> {
  const { server } = world;
  const tip = server.refs.get(ref);
  if (tip === undefined) return;
  server.refs.set(ref, await write(world, tip, [tip], change(filesAt(world, tip))));
}

/** The handbook and the summary with other lines. */
export function withLines(files: Files, change: (line: string) => string | null): Map<string, string> {
  const changed = new Map<string, string>();
  for (const path of [handbookPath, memorySummaryPath]) {
    const text = files.get(path);
    if (text === undefined) continue;
    const next = text
      .split('\n')
      .map(change)
      .filter((line) => line !== null)
      .join('\n');
    if (next !== text) changed.set(path, next);
  }
  return changed;
}

export type Way = 'merge' | 'squash' | 'rebase' | 'fast-forward';

/** Merges a tip of the proposal into the default branch, as the host does it. @returns the commit that it left there. */
export async function mergeTip(world: World, tip: Oid, way: Way): Promise<Oid> {
  const { server } = world;
  const main = server.refs.get(mainRef) ?? '';
  const isAhead = ancestors(server.objects, tip).has(main);
  const merged = await mergedOid(world, main, tip, way === 'fast-forward' && !isAhead ? 'merge' : way);
  server.refs.set(mainRef, merged);
  return merged;
}

async function mergedOid(world: World, main: Oid, tip: Oid, way: Way): Promise<Oid> {
  if (way === 'fast-forward') return tip;
  if (way === 'merge') return write(world, main, [main, tip], merging(world, main, tip));
  if (way === 'squash') return write(world, main, [main], merging(world, main, tip));
  const [before] = world.server.objects.commits.get(tip)?.parents ?? [];
  const isOurs = before !== undefined && !ancestors(world.server.objects, main).has(before);
  const first = isOurs ? await write(world, main, [main], merging(world, main, before)) : main;
  return write(world, first, [first], merging(world, main, tip));
}

/** By the merge driver that the repository brings. */
function merging(world: World, main: Oid, tip: Oid): Map<string, string | null> {
  const known = ancestors(world.server.objects, main);
  const fork = [...ancestors(world.server.objects, tip)].find((oid) => known.has(oid));
  const [base, ours, theirs] = [fork, tip, main].map((oid) => filesAt(world, oid));
  const merged = mergeMemories(memories(base), memories(ours), memories(theirs)).files;
  const changes = new Map<string, string | null>();
  for (const path of memories(theirs).keys()) if (!merged.has(path)) changes.set(path, null);
  for (const [path, text] of merged) changes.set(path, text);
  const state = ours?.get('state.sqlite.json');
  if (state !== undefined) changes.set('state.sqlite.json', state);
  return changes;
}

/** Puts the default branch's files back to those of another commit. */
export async function resetTo(world: World, commit: Oid): Promise<void> {
  const then = filesAt(world, commit);
  await commitTo(world, mainRef, (now) => {
    const changes = new Map<string, string | null>(then);
    for (const path of now.keys()) if (!then.has(path)) changes.set(path, null);
    return changes;
  });
}

export function tipOf(world: World): Oid | null {
  return world.server.refs.get(branchRef) ?? null;
}

function memories(files: Files | undefined): Files {
  return new Map([...(files ?? [])].filter(([path]) => path.startsWith('memories/')));
}

function write(world: World, base: Oid, parents: readonly Oid[], changes: ReadonlyMap<string, string | null>) {
  return onServer(world.server).writeCommit({
    base,
    parents,
    changes,
    message: 'A person’s work',
    author: person,
    at: world.now,
  });
}
