import type { ForgePull, ForgeSettings } from './forge-types.ts';

/** What a pretended host knows: one repository and its pull requests. */
export interface ForgeStore {
  url: string;
  readonly settings: ForgeSettings;
  readonly pulls: ForgePull[];
  add(pull: Partial<ForgePull> & { author: string; head: string }): ForgePull;
  merge(number: number, oid: string): void;
  shut(number: number, label?: string): void;
  reopen(number: number): void;
  tipOf(pull: ForgePull): string | null;
}

/** Of the repository itself; forks have others. */
export const repositoryIdOnHost = 101;

export function createStore(given: Partial<ForgeSettings>): ForgeStore {
  const settings: ForgeSettings = {
    owner: 'acme',
    name: 'memory',
    visibility: 'private',
    isFork: false,
    isArchived: false,
    defaultBranch: 'main',
    actionsMayOpenPulls: true,
    knowsDrafts: true,
    takesPulls: true,
    collaborators: [],
    labels: [],
    tokens: {},
    runs: {},
    tipOf: () => '1'.repeat(40),
    isAhead: () => true,
    pageSize: 100,
    ...given,
  };
  const pulls: ForgePull[] = [];
  const byNumber = (number: number) => {
    const pull = pulls.find((candidate) => candidate.number === number);
    if (pull === undefined) throw new Error(`there is no pull request ${number}`);
    return pull;
  };
  const tipOf = (pull: ForgePull) => (pull.state === 'open' ? settings.tipOf(pull.head) : pull.headOid);
  return {
    url: '',
    settings,
    pulls,
    tipOf,
    add: (pull) => {
      const made: ForgePull = {
        number: pulls.length + 1,
        title: '',
        body: '',
        draft: false,
        state: 'open',
        headRepository: repositoryIdOnHost,
        base: settings.defaultBranch,
        headOid: null,
        mergeOid: null,
        labels: [],
        reviewers: [],
        ...pull,
      };
      pulls.push(made);
      return made;
    },
    merge: (number, oid) => {
      const pull = byNumber(number);
      Object.assign(pull, { headOid: tipOf(pull), state: 'merged', mergeOid: oid });
    },
    shut: (number, label) => {
      const pull = byNumber(number);
      Object.assign(pull, { headOid: tipOf(pull), state: 'closed' });
      if (label !== undefined) pull.labels.push(label);
    },
    reopen: (number) => {
      byNumber(number).state = 'open';
    },
  };
}
