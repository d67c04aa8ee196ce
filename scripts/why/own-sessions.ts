import type { ListingFolder } from '../rollout/kept.ts';
import { readers } from '../rollout/readers.ts';
import { redactedRollouts } from '../rollout/redacted.ts';
import { openRollouts, type Source } from '../rollout/source.ts';
import type { Place } from '../rollout/thread.ts';
import type { Rollout } from '../rollout/types.ts';
import { sessionFiles } from '../rollout/walk.ts';
import type { Redactor } from '../shared/redact.ts';

/** This machine's own sessions, one at a time and redacted. */
export interface OwnSessions {
  /** @returns null where it is not here. @throws MemoryError for a source that cannot be read. */
  read(threadId: string, agent: string | null): Promise<Rollout | null>;
}

/** Each session is looked for once. @param listings where that of all sources is kept. */
export function ownSessions(
  sources: readonly Source[],
  place: Place,
  redactor: Redactor,
  listings?: ListingFolder,
): OwnSessions {
  const known = new Map<string, Promise<Rollout | null>>();
  const read = async (threadId: string, agent: string | null) => {
    const own = sources.filter((source) => agent === null || source.agent === agent);
    const named = await filesNamed(own, threadId, place.home);
    for (const some of [named, own]) {
      if (some.length === 0) continue;
      const rollouts = redactedRollouts(openRollouts(some, place, some === own ? listings : undefined), redactor);
      const { found } = await rollouts.list();
      if (found.some(({ thread }) => thread.id === threadId)) return rollouts.read(threadId);
    }
    return null;
  };
  return {
    read: (threadId, agent) => {
      const found = known.get(threadId) ?? read(threadId, agent);
      known.set(threadId, found);
      return found;
    },
  };
}

/** Most agents name a session's file after its id: only those are opened, where there are any. */
async function filesNamed(sources: readonly Source[], threadId: string, home: string): Promise<Source[]> {
  const named: Source[] = [];
  for (const { agent, path } of sources) {
    const { paths } = await sessionFiles(path.replace(/^~(?=\/|$)/, home), readers[agent]);
    named.push(...paths.filter((file) => file.includes(threadId)).map((file) => ({ agent, path: file })));
  }
  return named;
}
