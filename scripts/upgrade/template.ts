import type { Remote } from '../git/remote-types.ts';
import type { Repository } from '../git/types.ts';
import { UsageError } from '../shared/errors.ts';
import type { Oid } from '../shared/files.ts';
import { newestTag } from './version.ts';

/** A state of the template. */
export interface Version {
  /** Its tag or branch, else the commit. */
  readonly name: string;
  readonly commit: Oid;
}

export interface Template {
  /** Holds the template's objects, nothing else. */
  readonly repository: Repository;
  readonly remote: Remote;
}

export interface Wanted {
  /** `--ref`: a tag or a branch; null: the newest release, else the default branch. */
  readonly ref: string | null;
  /** `--base`: a tag, a branch or a commit; null: the tag of `version`. */
  readonly base: string | null;
  /** Of this repository's package.json. */
  readonly version: string | null;
}

/**
 * The version that is taken and the one that this repository came from.
 * @throws UsageError for a name that the template does not have, or a base that cannot be told.
 */
export async function versionsOf(
  template: Template,
  { ref, base, version }: Wanted,
  signal: AbortSignal,
): Promise<{ readonly base: Version; readonly target: Version }> {
  const { remote, repository } = template;
  const refs = await remote.listRefs(['refs/tags/', 'refs/heads/'], signal);
  const target = refOf(refs, ref ?? (await newest(refs, remote, signal)));
  if (target === null) throw unknownName(ref ?? 'its default branch', refs);
  const from = base === null ? refOf(refs, version === null ? '' : `v${version}`, ['refs/tags/']) : refOf(refs, base);
  const isCommit = base !== null && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(base);
  if (from === null && !isCommit) throw base === null ? unknownBase(version) : unknownName(base, refs);
  const fetched = await remote.fetch([target, ...(from === null ? [] : [from])], { signal });
  const at = async (name: string): Promise<Version> => {
    const oid = fetched.get(name);
    if (oid == null) throw unknownName(name, refs);
    return { name: name.replace(/^refs\/(tags|heads)\//, ''), commit: (await repository.readCommit(oid)).oid };
  };
  const started = from === null ? await commitAt(repository, base ?? '') : await at(from);
  return { base: started, target: await at(target) };
}

async function newest(refs: ReadonlyMap<string, Oid>, remote: Remote, signal: AbortSignal): Promise<string> {
  const tags = [...refs.keys()].flatMap((ref) => (ref.startsWith('refs/tags/') ? [ref.slice(10)] : []));
  return newestTag(tags) ?? (await remote.head(signal))?.branch ?? '';
}

/** Tags before branches. */
function refOf(
  refs: ReadonlyMap<string, Oid>,
  name: string,
  folders: readonly string[] = ['refs/tags/', 'refs/heads/'],
): string | null {
  return folders.map((folder) => `${folder}${name}`).find((ref) => refs.has(ref)) ?? null;
}

/** @throws GitError where the fetched history does not hold it. */
async function commitAt(repository: Repository, oid: Oid): Promise<Version> {
  return { name: oid.slice(0, 12), commit: (await repository.readCommit(oid)).oid };
}

function unknownName(name: string, refs: ReadonlyMap<string, Oid>): UsageError {
  const known = [...refs.keys()].map((ref) => ref.replace(/^refs\/(tags|heads)\//, '')).slice(0, 20);
  return new UsageError(
    `The template has no tag or branch ${name.slice(0, 100)}.`,
    `It has ${known.length === 0 ? 'none at all: check --from' : known.join(', ')}.`,
  );
}

function unknownBase(version: string | null): UsageError {
  return new UsageError(
    `Which version this repository came from cannot be told: ${version === null ? 'package.json names none' : `the template has no tag v${version}`}.`,
    'Name it: --base <tag, branch or commit of the template>',
  );
}
