import type { Archive } from '../archive/archive.ts';
import { openObjectStore } from '../git/object-store.ts';
import { type Place, searchReachable } from '../git/reachable.ts';
import type { Remote } from '../git/remote-types.ts';
import type { Repository } from '../git/types.ts';
import type { Trace } from './trace.ts';
import type { Form } from './words.ts';

/** A place that a ref still reaches; `remote` where the ref is the remote's. */
export interface Leftover extends Omit<Place<Form>, 'found'> {
  readonly remote: boolean;
  readonly form: Form;
}

const tracking = 'refs/memory/remote/';

/** The host's own copies of pull requests: nobody but the host can change them. */
const hostsOwn = /^refs\/(?:pull|merge-requests|keep-around|pipelines|environments)\//;

export interface Verifying {
  readonly repository: Repository;
  readonly remote: Remote | null;
  readonly archive: Archive | null;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Looks at every object that any ref reaches, here and on the remote, whose refs are fetched whole. */
export async function leftovers(trace: Trace, verifying: Verifying, signal?: AbortSignal): Promise<Leftover[]> {
  const { repository, env } = verifying;
  await fetchAll(verifying, signal);
  const all = await repository.listRefs('refs/');
  const refs = new Map([...all].filter(([ref]) => !/^refs\/remotes\/.+\/HEAD$/.test(ref)));
  const head = await repository.head();
  if (head.kind === 'detached') refs.set('HEAD', head.oid);
  const store = await openObjectStore(repository, env);
  const places = await searchReachable(store, refs, trace.formIn, signal);
  return places
    .map(({ ref, found: form, ...place }) => {
      const remote = ref.startsWith(tracking);
      return { ...place, form, remote, ref: remote ? `refs/${ref.slice(tracking.length)}` : ref };
    })
    .filter(({ remote, ref }, _, all) => remote || !isMirror(ref, all));
}

/** The clone's own copies of what the remote has are told once, as the remote's. */
function isMirror(ref: string, all: readonly { readonly remote: boolean; readonly ref: string }[]): boolean {
  return ref.startsWith('refs/memory/') && all.some((other) => other.remote && other.ref === ref);
}

async function fetchAll({ repository, remote, archive }: Verifying, signal?: AbortSignal): Promise<void> {
  if (remote === null) return;
  const refs = [...(await remote.listRefs(['refs/'], signal)).keys()].filter((ref) => !hostsOwn.test(ref));
  const options = { depth: null, ...(signal === undefined ? {} : { signal }) };
  await remote.fetch(refs, options);
  const known = new Set(refs);
  if (archive !== null && archive.remote !== null) {
    await archive.remote.fetch([archive.ref], options);
    known.add(archive.ref);
  }
  for (const [ref, oid] of await repository.listRefs(tracking))
    if (!known.has(`refs/${ref.slice(tracking.length)}`)) await repository.swapRef(ref, oid, null);
}
