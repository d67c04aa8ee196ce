import type { Draft, Forge, Outcome, PullRequest, Wording } from '../../scripts/publish/forge.ts';
import { bodyHash } from '../../scripts/publish/forge.ts';
import type { Watch } from './memory-git.ts';

/** A host's pull requests, held in memory; `state` is people's to change. */
export interface MemoryForge {
  readonly pulls: PullRequest[];
  change(number: number, to: Partial<PullRequest>): void;
  /** As a process sees it. */
  seen(watch?: Watch): Forge;
}

export function aForge(tipOf: (branch: string) => string | null): MemoryForge {
  const pulls: PullRequest[] = [];
  const change = (number: number, to: Partial<PullRequest>) => {
    const index = pulls.findIndex((pull) => pull.number === number);
    const pull = pulls[index];
    if (pull === undefined) throw new Error(`there is no pull request ${number}`);
    pulls[index] = { ...pull, ...to };
  };
  const now = (pull: PullRequest): PullRequest =>
    pull.state === 'open' ? { ...pull, headOid: tipOf(pull.headBranch) } : pull;
  const openOne = () => pulls.find(({ state }) => state === 'open');
  return {
    pulls,
    change,
    seen: (watch = async () => undefined) => {
      const write = async (what: string, work: () => number): Promise<Outcome> => {
        await watch(what, 'before');
        const number = work();
        await watch(what, 'after');
        const pullRequest = pulls.find((pull) => pull.number === number);
        if (pullRequest === undefined) throw new Error('it is gone');
        return { pullRequest: now(pullRequest), changed: true, warnings: [] };
      };
      return {
        kind: 'github',
        host: 'memory',
        whoAmI: async () => 'memory-bot',
        repository: async () => ({
          name: 'acme/memory',
          url: 'https://git.example.test/acme/memory',
          visibility: 'private',
          isFork: false,
          defaultBranch: 'main',
          isArchived: false,
          mayPush: true,
          mayOpenPullRequests: true,
        }),
        find: async ({ number, tips = [] }) => {
          await watch('find', 'before');
          const named = pulls.find((pull) => pull.number === number);
          const ended = pulls.findLast(({ state, headOid }) => state !== 'open' && tips.includes(headOid ?? ''));
          const recorded = named ?? (number === null && openOne() === undefined ? ended : undefined);
          const open = openOne();
          await watch('find', 'after');
          return {
            recorded: recorded === undefined ? null : now(recorded),
            open: open === undefined ? null : now(open),
          };
        },
        open: (draft) => write('open', () => opened(pulls, change, draft, openOne()?.number ?? null)),
        refresh: (number, wording) =>
          write('refresh', () => {
            if (pulls.find((pull) => pull.number === number)?.state === 'open') change(number, worded(wording));
            return number;
          }),
      };
    },
  };
}

function opened(pulls: PullRequest[], change: MemoryForge['change'], draft: Draft, open: number | null): number {
  if (open !== null) {
    change(open, worded(draft));
    return open;
  }
  const number = pulls.length + 1;
  pulls.push({
    number,
    url: `https://git.example.test/acme/memory/pull/${number}`,
    state: 'open',
    mergeOid: null,
    labels: [],
    draft: false,
    headOid: null,
    headBranch: draft.headBranch,
    isFromHere: true,
    base: draft.base,
    author: 'memory-bot',
    ...worded(draft),
  });
  return number;
}

function worded({ title, body }: Wording) {
  return { title, bodyHash: bodyHash(body) };
}
