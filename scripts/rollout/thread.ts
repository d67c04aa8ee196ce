import type { ItemNumber } from '../shared/evidence.ts';
import { safeThreadId } from '../shared/thread-id.ts';
import type { Checkouts } from './checkouts.ts';
import { chooseRepository, relativeCwd, relativeFile, repositoryId } from './identity.ts';
import { memorySeen } from './memory-seen.ts';
import type { Session } from './reader.ts';
import type { Item, Rollout, Thread } from './types.ts';

export interface Place {
  /** Repository ids that are wanted, most wanted first. */
  readonly include: readonly string[];
  readonly checkouts: Checkouts;
  readonly home: string;
  /** `optOutWord`, where this machine has another. */
  readonly optOutWord?: string;
}

/** The session as a rollout: its repository found, and every path relative to it. */
export async function rolloutOf(session: Session, place: Place): Promise<Rollout> {
  const { repo, aliases, root } = await repositoryOf(session, place);
  const items = session.items.map((item) => localised(item, session.cwd, root, place.home));
  const thread: Thread = {
    id: safeThreadId(session.id),
    agent: session.source.agent,
    origin: session.origin,
    kind: session.kind,
    repo,
    aliases,
    cwd: session.cwd === null ? '.' : relativeCwd(session.cwd, root, place.home),
    branch: session.branch,
    commit: session.commit,
    author: null,
    ...spanOf(items, session.startedAt),
    startedAt: session.startedAt,
  };
  const memory = memorySeen(items, session.injected);
  return {
    thread,
    source: session.source,
    skipped: session.skipped,
    redaction: {},
    ...(memory === undefined ? {} : { memory }),
    items,
  };
}

/** The rollout without items that it only copied from another session; its own time starts after them. */
export function withoutRepeats(rollout: Rollout, repeated: ReadonlySet<ItemNumber>): Rollout {
  if (repeated.size === 0) return rollout;
  const items = rollout.items.filter((item) => !repeated.has(item.n));
  const startedAt = items.find((item) => item.at !== null)?.at ?? rollout.thread.startedAt;
  return {
    ...rollout,
    thread: { ...rollout.thread, ...spanOf(items, startedAt), startedAt },
    skipped: { ...rollout.skipped, repeated: rollout.items.length - items.length },
    items,
  };
}

const titleCharacters = 120;

/** The first human words on one line, at most 120 characters. */
export function titleOf(items: readonly Item[]): string {
  const first = items.find((item) => item.who === 'human' && item.kind === 'text');
  const words = [
    ...(first?.text ?? '')
      .slice(0, 2000)
      .replace(/(?:\[image omitted\]|\s)+/g, ' ')
      .trim(),
  ];
  return words.length > titleCharacters ? `${words.slice(0, titleCharacters - 1).join('')}…` : words.join('');
}

function spanOf(items: readonly Item[], startedAt: number): Pick<Thread, 'title' | 'updatedAt'> {
  return {
    title: titleOf(items),
    updatedAt: items.reduce((latest, item) => Math.max(latest, item.at ?? 0), startedAt),
  };
}

async function repositoryOf(
  session: Session,
  { include, checkouts }: Place,
): Promise<{ repo: string; aliases: string[]; root: string | null }> {
  const checkout = session.cwd === null ? null : await checkouts.of(session.cwd);
  const remotes = (checkout?.remotes ?? []).map(repositoryId).filter((id) => id !== null);
  const recorded = session.remote === null ? null : repositoryId(session.remote);
  const known = remotes.length === 0 && recorded !== null ? [recorded] : remotes;
  const { repo, aliases } = chooseRepository(known, include);
  const local = checkout?.rootCommit ? `local:${checkout.rootCommit.slice(0, 12)}` : null;
  // Without the checkout, a session that names its repository is taken to have started at its root.
  const root = checkout?.root ?? (recorded === null ? null : session.cwd);
  return { repo: repo ?? local ?? 'none', aliases, root };
}

function localised(item: Item, cwd: string | null, root: string | null, home: string): Item {
  if (item.files === undefined) return item;
  return { ...item, files: [...new Set(item.files.map((file) => relativeFile(file, cwd, root, home)))] };
}
