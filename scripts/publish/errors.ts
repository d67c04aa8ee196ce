import { MemoryError } from '../shared/errors.ts';

/**
 * `auth`: the token is refused. `rights`: it may not do this. `setting`: the repository's settings forbid Actions to
 * open pull requests. `taken`: another open pull request proposes the same branch. `no_commits`: the branch holds
 * nothing new. `branch`: head or base does not exist there. `server`, `network`, `rate_limit`: may pass, retries spent.
 */
export type ForgeErrorKind =
  | 'auth'
  | 'rights'
  | 'setting'
  | 'not_found'
  | 'taken'
  | 'no_commits'
  | 'branch'
  | 'validation'
  | 'rate_limit'
  | 'server'
  | 'network'
  | 'aborted';

export interface ForgeErrorOptions {
  /** HTTP status; absent where no answer came. */
  readonly status?: number;
  /** The host's own words, without the token. */
  readonly words?: string;
  /** Seconds that the host asks us to wait. */
  readonly retryAfter?: number;
  /** Whether the same request may be sent again. */
  readonly mayPass?: boolean;
}

/** The host of the pull requests refused or failed. Holds no token, and no cause that could hold one. */
export class ForgeError extends MemoryError {
  readonly kind: ForgeErrorKind;
  readonly status: number | null;
  readonly words: string;
  readonly retryAfter: number | null;
  readonly mayPass: boolean;

  constructor(kind: ForgeErrorKind, message: string, hint: string, options: ForgeErrorOptions = {}) {
    super(message, hint);
    this.kind = kind;
    this.status = options.status ?? null;
    this.words = options.words ?? '';
    this.retryAfter = options.retryAfter ?? null;
    this.mayPass = options.mayPass ?? false;
  }
}
