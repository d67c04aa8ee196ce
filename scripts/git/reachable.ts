import type { Oid } from '../shared/files.ts';
import { parseCommit } from './commit-text.ts';
import type { ObjectStore } from './object-store.ts';
import { fromRaw, parseTree, type RawObject } from './objects.ts';

/** What stands in one object that a ref reaches: a file's bytes, a name in a tree, a commit's or tag's own text. */
export interface Reached {
  readonly oid: Oid;
  readonly kind: 'blob' | 'name' | 'commit' | 'tag';
  readonly bytes: Buffer;
  /** The file's or folder's name, without the folders above; '' of commits and tags. */
  readonly name: string;
}

/** Something that was found, by the ref that reaches it. */
export interface Place<T> {
  readonly ref: string;
  /** The first commit that holds it of those that the ref reaches, newest first; a tag's own oid. */
  readonly commit: Oid;
  /** How many of them hold it. */
  readonly commits: number;
  /** null: it stands in the commit's or tag's own text. */
  readonly path: string | null;
  readonly found: T;
}

/**
 * Looks at every object that the refs reach, each once.
 * @param look what is found in it; null for nothing.
 * @returns by ref, then path.
 */
export async function searchReachable<T>(
  store: ObjectStore,
  refs: ReadonlyMap<string, Oid>,
  look: (reached: Reached) => T | null,
  signal?: AbortSignal,
): Promise<Place<T>[]> {
  const tips = await resolveTips(store, refs, look);
  const commits = await readCommits(
    store,
    [...tips.values()].map(({ commit }) => commit),
    look,
    signal,
  );
  const trees = await readTrees(store, new Set([...commits.values()].map(({ tree }) => tree)), look, signal);
  await readBlobs(store, trees, look, signal);
  const below = heldBelow(trees);
  return [...tips].flatMap(([ref, tip]) => [
    ...(tip.found === null ? [] : [{ ref, commit: tip.oid, commits: 1, path: null, found: tip.found }]),
    ...placesOf(ref, tip.commit, commits, below),
  ]);
}

interface Tip<T> {
  readonly oid: Oid;
  readonly commit: Oid;
  /** In the text of an annotated tag. */
  readonly found: T | null;
}

interface Commit<T> {
  readonly tree: Oid;
  readonly parents: readonly Oid[];
  readonly found: T | null;
}

interface Entry<T> {
  readonly name: string;
  readonly oid: Oid;
  readonly isTree: boolean;
  /** In its name, or in the bytes of the blob. */
  found: T | null;
}

type Trees<T> = ReadonlyMap<Oid, readonly Entry<T>[]>;

const mostTags = 5;

async function resolveTips<T>(
  { read }: ObjectStore,
  refs: ReadonlyMap<string, Oid>,
  look: (reached: Reached) => T | null,
): Promise<Map<string, Tip<T>>> {
  const tips = new Map<string, Tip<T>>();
  const objects = await read([...refs.values()]);
  for (const [at, [ref, oid]] of [...refs].entries()) {
    let object = objects[at] ?? null;
    let commit = oid;
    let found: T | null = null;
    for (let tags = 0; object?.type === 'tag' && tags < mostTags; tags += 1) {
      found ??= look({ oid: commit, kind: 'tag', bytes: object.bytes, name: '' });
      commit = /^object ([0-9a-f]{40,64})\n/.exec(object.bytes.toString('latin1', 0, 100))?.[1] ?? '';
      object = (commit === '' ? null : (await read([commit]))[0]) ?? null;
    }
    if (object?.type === 'commit') tips.set(ref, { oid, commit, found });
  }
  return tips;
}

/** A clone that was cut off ends where its objects do. */
async function readCommits<T>(
  store: ObjectStore,
  tips: readonly Oid[],
  look: (reached: Reached) => T | null,
  signal: AbortSignal | undefined,
): Promise<Map<Oid, Commit<T>>> {
  const commits = new Map<Oid, Commit<T>>();
  const listed = await store.commits([...new Set(tips)]);
  for (let next: readonly Oid[] = listed ?? [...new Set(tips)]; next.length > 0; ) {
    const further = new Set<Oid>();
    for await (const [oid, object] of inParts(store, next, 500, signal)) {
      if (object?.type !== 'commit') continue;
      const { tree, parents } = parseCommit(oid, object.bytes);
      commits.set(oid, { tree, parents, found: look({ oid, kind: 'commit', bytes: object.bytes, name: '' }) });
      if (listed === null) for (const parent of parents) further.add(parent);
    }
    next = [...further].filter((oid) => !commits.has(oid));
  }
  return commits;
}

async function readTrees<T>(
  store: ObjectStore,
  roots: ReadonlySet<Oid>,
  look: (reached: Reached) => T | null,
  signal: AbortSignal | undefined,
): Promise<Trees<T>> {
  const trees = new Map<Oid, Entry<T>[]>();
  for (let next: readonly Oid[] = [...roots]; next.length > 0; ) {
    const further = new Set<Oid>();
    for await (const [oid, object] of inParts(store, next, 500, signal)) {
      if (object?.type !== 'tree') continue;
      const entries = parseTree(object.bytes, store.format).filter(({ mode }) => mode !== '160000');
      trees.set(
        oid,
        entries.map(({ mode, name: raw, oid: own }) => {
          const bytes = Buffer.from(raw, 'latin1');
          const name = fromRaw(raw) ?? bytes.toString('utf8');
          const isTree = mode === '40000';
          if (isTree) further.add(own);
          return { name, oid: own, isTree, found: look({ oid: own, kind: 'name', bytes, name }) };
        }),
      );
    }
    next = [...further].filter((oid) => !trees.has(oid));
  }
  return trees;
}

/** A blob is looked at under each of its names: what counts in one file may not in another. */
async function readBlobs<T>(
  store: ObjectStore,
  trees: Trees<T>,
  look: (reached: Reached) => T | null,
  signal: AbortSignal | undefined,
): Promise<void> {
  const named = new Map<Oid, Map<string, Entry<T>[]>>();
  for (const entry of [...trees.values()].flat()) {
    if (entry.isTree || entry.found !== null) continue;
    const names = named.get(entry.oid) ?? new Map<string, Entry<T>[]>();
    names.set(entry.name, [...(names.get(entry.name) ?? []), entry]);
    named.set(entry.oid, names);
  }
  for await (const [oid, object] of inParts(store, [...named.keys()], 16, signal)) {
    if (object?.type !== 'blob') continue;
    for (const [name, entries] of named.get(oid) ?? []) {
      const found = look({ oid, kind: 'blob', bytes: object.bytes, name });
      for (const entry of entries) entry.found = found;
    }
  }
}

async function* inParts(
  { read }: ObjectStore,
  oids: readonly Oid[],
  atOnce: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<[Oid, RawObject | null]> {
  for (let from = 0; from < oids.length; from += atOnce) {
    signal?.throwIfAborted();
    const part = oids.slice(from, from + atOnce);
    const objects = await read(part);
    for (const [at, oid] of part.entries()) yield [oid, objects[at] ?? null];
  }
}

/** Path → what was found there, by tree; each tree is gone through once. */
function heldBelow<T>(trees: Trees<T>): (tree: Oid) => ReadonlyMap<string, T> {
  const known = new Map<Oid, ReadonlyMap<string, T>>();
  const of = (tree: Oid): ReadonlyMap<string, T> => {
    const before = known.get(tree);
    if (before !== undefined) return before;
    const held = new Map<string, T>();
    known.set(tree, held);
    for (const { name, oid, isTree, found } of trees.get(tree) ?? []) {
      if (found !== null) held.set(name, found);
      if (isTree) for (const [path, one] of of(oid)) held.set(`${name}/${path}`, one);
    }
    return held;
  };
  return of;
}

function placesOf<T>(
  ref: string,
  tip: Oid,
  commits: ReadonlyMap<Oid, Commit<T>>,
  below: (tree: Oid) => ReadonlyMap<string, T>,
): Place<T>[] {
  const places = new Map<string, Place<T>>();
  const note = (key: string, path: string | null, commit: Oid, found: T) => {
    const before = places.get(key);
    places.set(key, before ? { ...before, commits: before.commits + 1 } : { ref, commit, commits: 1, path, found });
  };
  const seen = new Set<Oid>([tip]);
  for (const oid of seen) {
    const commit = commits.get(oid);
    if (commit === undefined) continue;
    if (commit.found !== null) note('', null, oid, commit.found);
    for (const [path, found] of below(commit.tree)) note(`/${path}`, path, oid, found);
    for (const parent of commit.parents) seen.add(parent);
  }
  return [...places.values()];
}
