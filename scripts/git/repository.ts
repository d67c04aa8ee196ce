import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { MemoryError } from '../shared/errors.ts';
import type { Files, Oid } from '../shared/files.ts';
import { byBinary } from '../shared/files.ts';
import type { Backend } from './backend.ts';
import { blobBytes, namedPath, textFile, textOf } from './blob-text.ts';
import { formatCommit, parseCommit } from './commit-text.ts';
import { explain, GitError } from './errors.ts';
import { completeHalfWritten } from './half-written.ts';
import type { Layout } from './layout.ts';
import { writeLooseObjects } from './loose-objects.ts';
import { isRegularFile, oidOf, type RawObject, shownPath, type TreeEntry, toRaw } from './objects.ts';
import { oidsAt } from './oids-at.ts';
import { checkedOid, checkedRef } from './ref-name.ts';
import { shallowCommits } from './remote-history.ts';
import { requireSettled } from './settled.ts';
import { changedLeaves, leavesOf, treesOf } from './tree-read.ts';
import { rewriteTree } from './tree-write.ts';
import type { CommitInfo, CommitSpec, Leaf, Repository } from './types.ts';

/** A repository over either backend. Objects are made here, so that both write the same bytes. */
export function repositoryOver(backend: Backend, layout: Layout): Repository {
  const trees = treesOf(backend.readObjects, layout.format);

  const readCommit = async (name: Oid) => {
    for (let oid = name, tags = 0; ; tags += 1) {
      const [object] = await backend.readObjects([checkedOid(oid)]);
      const tagged = object?.type === 'tag' && tags < tagLimit ? taggedOid(object.bytes) : undefined;
      if (tagged === undefined) return parseCommit(oid, commitBytes(oid, object));
      oid = tagged;
    }
  };
  const roots = new Map<Oid, Oid>();
  const treeOf = async (commit: Oid | null) => {
    if (commit === null) return null;
    const tree = roots.get(commit) ?? (await readCommit(commit)).tree;
    if (roots.size < mostRoots) roots.set(commit, tree);
    return tree;
  };

  return {
    backend: backend.name,
    commonDir: layout.commonDir,
    workTree: layout.workTree,
    head: () => guard('HEAD cannot be read', () => backend.head()),
    readRef: (ref) => guard(`${ref} cannot be read`, () => backend.readRef(checkedRef(ref))),
    listRefs: (prefix) => guard(`The refs below ${prefix} cannot be read`, () => backend.listRefs(refFolder(prefix))),
    remotes: () => guard('The remotes cannot be read', () => backend.remotes()),

    readFiles: (commit, paths) =>
      guard(`The files of ${commit} cannot be read`, async () => {
        const leaves = await leavesOf(trees, await treeOf(commit), paths.map(toRaw));
        const files = [...leaves].filter(([, entry]) => isRegularFile(entry));
        const oids = [...new Set(files.map(([, entry]) => entry.oid))];
        const blobs = await backend.readObjects(oids);
        // A state's tree holds most of its files twice: their text is one and the same.
        const texts = new Map(oids.map((oid, at) => [oid, textOf(blobs[at])]));
        const read = files.map(([raw, entry]) => textFile(raw, entry.oid, texts.get(entry.oid)));
        return new Map(read.filter((file) => file !== null).sort(([a], [b]) => byBinary(a, b))) as Files;
      }),

    leaves: (commit, paths) =>
      guard(`The files of ${commit} cannot be listed`, async () => {
        const leaves = await leavesOf(trees, await treeOf(commit), paths.map(toRaw));
        return [...leaves]
          .map(([raw, entry]): Leaf => ({ path: shownPath(raw), kind: kindOf(entry), oid: entry.oid }))
          .sort((a, b) => byBinary(a.path, b.path));
      }),

    listFiles: (commit, paths) =>
      guard(`The files of ${commit} cannot be listed`, async () => {
        const leaves = await leavesOf(trees, await treeOf(commit), paths.map(toRaw));
        return new Map(
          [...leaves]
            .filter(([, entry]) => isRegularFile(entry))
            .flatMap(([raw, entry]): [string, Oid][] => {
              const path = namedPath(raw);
              return path === null ? [] : [[path, entry.oid]];
            })
            .sort(([a], [b]) => byBinary(a, b)),
        );
      }),

    oidsAt: (commits, path) =>
      guard(`The history of ${path} cannot be read`, () =>
        oidsAt(backend.readObjects, layout.format, commits.map(checkedOid), toRaw(path)),
      ),

    readBlobs: (oids) =>
      guard('Files cannot be read', async () => {
        const blobs = await backend.readObjects(oids.map(checkedOid));
        return oids.map((oid, at) => blobBytes(oid, oid, blobs[at]));
      }),

    readCommit: (oid) => guard(`The commit ${oid} cannot be read`, async () => withoutTree(await readCommit(oid))),

    history: (from, limit) =>
      guard(`The history of ${from} cannot be read`, async () => {
        const oids = await backend.firstParents(checkedOid(from), limit);
        const objects = await backend.readObjects(oids);
        return oids.map((oid, at) => withoutTree(parseCommit(oid, commitBytes(oid, objects[at]))));
      }),

    rootCommit: () =>
      guard('The history cannot be read', async () => {
        const { oid } = await backend.head();
        if (oid === null) return null;
        const first = await backend.firstCommit(oid);
        return (await shallowCommits(layout.commonDir)).has(first) ? null : first;
      }),

    writeCommit: (spec) =>
      guardWrite('The commit could not be written, the branch is as before', layout, async () => {
        const base = await treeOf(spec.base);
        const written = await rewriteTree(trees, layout.format, base, spec);
        const commit: RawObject = { type: 'commit', bytes: formatCommit({ ...spec, tree: written.oid }) };
        const oid = oidOf(commit, layout.format);
        const parents = await backend.readObjects(spec.parents.map(checkedOid));
        spec.parents.forEach((parent, at) => {
          commitBytes(parent, parents[at]);
        });
        await writeLooseObjects(join(layout.commonDir, 'objects'), new Map([...written.objects, [oid, commit]]));
        await verify(spec, base, (await readCommit(oid)).tree);
        return oid;
      }),

    swapRef: (ref, expected, next) =>
      guardWrite(`${ref} could not be moved, it is as before`, layout, async () => {
        checkedRef(ref);
        if (expected !== null) checkedOid(expected);
        if (next !== null && (await backend.readObjects([checkedOid(next)]))[0] == null)
          throw new GitError(`${ref} cannot be moved to ${next}: there is no such object.`, 'Check it: git fsck');
        if (expected !== null || next !== null) await backend.swapRef(ref, expected, next);
      }),

    uncommitted: (paths) =>
      guard('The working tree cannot be compared', async () => {
        if (layout.workTree === null) return [];
        const raw = paths.map(toRaw);
        const { oid } = await backend.head();
        await requireSettled(layout, oid, raw);
        return [...new Set((await backend.uncommitted(oid, raw)).map(shownPath))].sort(byBinary);
      }),

    refresh: (from, to) =>
      guardWrite('The working tree could not be brought to the new commit', layout, async () => {
        if (layout.workTree === null) return;
        const changes = await changedLeaves(trees, await treeOf(from), await treeOf(to));
        const folders = new Set(changes.map(({ path }) => path.slice(0, Math.max(0, path.lastIndexOf('/')))));
        await requireSettled(layout, from, [...folders].filter(Boolean));
        if (changes.length === 0) return;
        await completeHalfWritten(layout, backend.readObjects, changes);
        await backend.refresh(from, to, changes);
      }),
  };

  async function verify(spec: CommitSpec, base: Oid | null, tree: Oid): Promise<void> {
    for (const { path, after } of await changedLeaves(trees, base, tree)) {
      const text = spec.changes.get(shownPath(path));
      const intended =
        text === undefined || text === null ? null : oidOf({ type: 'blob', bytes: Buffer.from(text) }, layout.format);
      if (text === undefined || (after?.oid ?? null) !== intended)
        throw new GitError(
          `The new commit would change ${shownPath(path)}, which nobody asked for; the branch is as before.`,
          'Check the repository with git fsck, and report this: it is a mistake of ours.',
        );
    }
  }
}

/** Trees of commits that are kept, so that no commit is read once for each of its files. */
const mostRoots = 1_000;

async function guard<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explain(action, error);
  }
}

/** Whoever fails to write does not always say why: then the file system is asked. */
async function guardWrite<T>(action: string, { commonDir }: Layout, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MemoryError) throw error;
    const denied = await access(commonDir, constants.W_OK).then(
      () => null,
      (reason: unknown) => reason,
    );
    throw explain(action, denied ?? error);
  }
}

/** Annotated tags of tags that are followed. */
const tagLimit = 5;

function taggedOid(tag: Buffer): Oid | undefined {
  return /^object ([0-9a-f]{40,64})\n/.exec(tag.toString('latin1', 0, 100))?.[1];
}

function commitBytes(oid: Oid, object: RawObject | null | undefined): Buffer {
  if (object?.type === 'commit') return object.bytes;
  throw new GitError(
    object ? `${oid} is a ${object.type}, not a commit.` : `There is no commit ${oid} in this repository.`,
    'Where the clone is shallow, fetch more: git fetch --unshallow',
  );
}

function kindOf(entry: TreeEntry): Leaf['kind'] {
  if (isRegularFile(entry)) return entry.mode === '100755' ? 'executable' : 'file';
  return entry.mode === '120000' ? 'link' : 'repository';
}

function withoutTree({ tree: _, ...commit }: CommitInfo & { readonly tree: Oid }): CommitInfo {
  return commit;
}

function refFolder(prefix: string): string {
  if (/^refs\/(?:[^\s*?[\\:~^]+\/)?$/.test(prefix)) return prefix;
  throw new GitError(`${JSON.stringify(prefix)} is no folder of refs.`, 'Write it like refs/memory/.');
}
