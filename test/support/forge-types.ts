/** Whose a token is and what it may do on the pretended hosts. */
export interface ForgeToken {
  readonly login: string;
  /** `actions` and `app` tokens may not ask `GET /user`, as on GitHub. */
  readonly kind: 'user' | 'app' | 'actions';
  readonly pulls?: 'write' | 'read' | 'none';
  /** Whether it may make labels that do not exist. */
  readonly mayCreateLabels?: boolean;
  readonly expired?: boolean;
}

/** A workflow run, as far as a night asks; the rest is as a nightly one's on the default branch. */
export interface ForgeRun {
  readonly path?: string;
  readonly branch?: string;
  readonly event?: string;
  /** Id of the repository that holds the branch. */
  readonly headRepository?: number;
  /** By attempt. */
  readonly attempts: Readonly<Record<string, 'queued' | 'in_progress' | 'completed'>>;
}

export interface ForgePull {
  readonly number: number;
  title: string;
  body: string;
  draft: boolean;
  state: 'open' | 'closed' | 'merged';
  readonly author: string;
  readonly head: string;
  /** Id of the repository that holds the branch. */
  readonly headRepository: number;
  base: string;
  /** The branch's tip, frozen when it was closed or merged. */
  headOid: string | null;
  mergeOid: string | null;
  labels: string[];
  reviewers: string[];
}

export interface ForgeRequestLog {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What happens to the request with this index (from 0), instead of or after its effect. */
export type Fault =
  | { readonly drop: 'before' | 'after' }
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** A value becomes JSON, a text is sent as HTML. */
      readonly body?: unknown;
      /** Whether the request takes effect first. */
      readonly applies?: boolean;
    }
  | { readonly stall: true };

export interface ForgeSettings {
  owner: string;
  name: string;
  visibility: 'public' | 'internal' | 'private';
  isFork: boolean;
  isArchived: boolean;
  defaultBranch: string;
  actionsMayOpenPulls: boolean;
  knowsDrafts: boolean;
  takesPulls: boolean;
  /** Users who may review. */
  collaborators: string[];
  labels: string[];
  tokens: Record<string, ForgeToken>;
  /** Workflow runs by id. */
  runs: Record<string, ForgeRun>;
  /** The tip of a branch; null where there is none. */
  tipOf: (branch: string) => string | null;
  /** Whether the head holds commits that the base does not. */
  isAhead: (base: string, head: string) => boolean;
  /** Entries a page at most, whatever the request asks for. */
  pageSize: number;
}

export interface ForgeServer {
  readonly port: number;
  readonly url: string;
  /** GitHub's interface, as an Enterprise Server has it. */
  readonly githubApi: string;
  readonly gitlabApi: string;
  readonly settings: ForgeSettings;
  readonly pulls: ForgePull[];
  readonly requests: ForgeRequestLog[];
  /** Faults by index of the request, counted from 0 over the server's life. */
  readonly faults: Map<number, Fault>;
  /** Something a person does: opens one by hand. */
  add(pull: Partial<ForgePull> & { author: string; head: string }): ForgePull;
  /** Merges, squashes or rebases: the commit that it left on the base. */
  merge(number: number, oid: string): void;
  shut(number: number, label?: string): void;
  reopen(number: number): void;
  close(): Promise<void>;
}

/** What one host answers. */
export interface ForgeReply {
  readonly status: number;
  readonly value?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ForgeCall {
  readonly method: string;
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
  readonly who: ForgeToken;
}
