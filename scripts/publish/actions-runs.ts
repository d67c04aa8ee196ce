import { at, countAt, textAt } from '../model/at.ts';
import { createApi } from './api.ts';
import { ForgeError } from './errors.ts';
import type { GitHubOptions } from './github.ts';
import { githubRefusal } from './github-refusals.ts';

/** What GitHub says of workflow runs. */
export interface ActionsRuns {
  /** Whether `<run>/<attempt>` is over; null where the host does not say. */
  hasEnded(run: string): Promise<boolean | null>;
  /** Whether a run is one of the nightly workflow on the default branch of the repository itself: ours to believe. */
  isNightly(runId: string): Promise<boolean>;
}

/** The workflow whose runs hand over a journal. */
const nightlyPath = '.github/workflows/nightly.yml';

/** Asks GitHub; whatever it refuses or cannot say counts as not known. */
export function createActionsRuns(options: GitHubOptions): ActionsRuns {
  const api = createApi({
    ...options,
    headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
    refusalOf: githubRefusal,
  });
  const root = `/repos/${encodeURIComponent(options.owner)}/${encodeURIComponent(options.repo)}`;
  return {
    hasEnded: async (run) => {
      const [, id, attempt] = /^(\d{1,19})\/(\d{1,9})$/.exec(run) ?? [];
      if (id === undefined) return null;
      const found = await orUndefined(api.send('GET', `${root}/actions/runs/${id}/attempts/${attempt}`));
      const status = textAt(found, 'status');
      return status === null ? null : status === 'completed';
    },
    isNightly: async (runId) => {
      if (!/^\d{1,19}$/.test(runId)) return false;
      const run = await orUndefined(api.send('GET', `${root}/actions/runs/${runId}`));
      const branch = textAt(await orUndefined(api.send('GET', root)), 'default_branch');
      const repository = countAt(run, 'repository', 'id');
      return (
        String(at(run, 'id')) === runId &&
        textAt(run, 'path')?.replace(/@.*$/, '') === nightlyPath &&
        branch !== null &&
        textAt(run, 'head_branch') === branch &&
        repository !== null &&
        countAt(run, 'head_repository', 'id') === repository &&
        ['schedule', 'workflow_dispatch'].includes(textAt(run, 'event') ?? '')
      );
    },
  };
}

async function orUndefined(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ForgeError && error.kind !== 'aborted') return undefined;
    throw error;
  }
}
