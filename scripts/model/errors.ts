import { exitCodes, MemoryError } from '../shared/errors.ts';

/**
 * `key`, `quota`: the provider will not serve us. `budget`: our own cap. `rate_limit`, `server`, `stalled`, `network`:
 * may pass, retries spent. `too_long`: over the context window. `bad_request`: the server refused what we sent.
 * `deferred`: it goes into a batch, and a later night has its answer.
 */
export type ModelErrorKind =
  | 'key'
  | 'quota'
  | 'rate_limit'
  | 'too_long'
  | 'server'
  | 'stalled'
  | 'network'
  | 'bad_request'
  | 'aborted'
  | 'budget'
  | 'deferred';

export interface ModelErrorOptions {
  readonly cause?: unknown;
  /** HTTP status; absent where no answer came. */
  readonly status?: number;
  /** How often the same request may be sent again because of this; 0 when absent. */
  readonly retries?: number;
  /** Seconds that the server asks us to wait. */
  readonly retryAfter?: number;
}

export class ModelError extends MemoryError {
  readonly kind: ModelErrorKind;
  readonly status: number | null;
  readonly retries: number;
  readonly retryAfter: number | null;

  constructor(kind: ModelErrorKind, message: string, hint: string, options: ModelErrorOptions = {}) {
    super(message, hint, {
      ...(options.cause === undefined ? {} : { cause: options.cause }),
      exitCode: kind === 'key' || kind === 'quota' ? exitCodes.keyOrQuota : exitCodes.failed,
    });
    this.kind = kind;
    this.status = options.status ?? null;
    this.retries = options.retries ?? 0;
    this.retryAfter = options.retryAfter ?? null;
  }

  /** Whether every further request would fail alike, so that the night must not go on paying. */
  get stopsNight(): boolean {
    return this.kind === 'key' || this.kind === 'quota' || this.kind === 'budget';
  }
}

export function abortedError(cause?: unknown): ModelError {
  return new ModelError('aborted', 'The request to the model was given up.', 'Nothing to do: the run was stopped.', {
    cause,
  });
}

/**
 * A server's words on one line, fit to be shown: the key taken out, control characters and runs of space made one
 * space, at most 300 characters.
 */
export function quoted(words: string, key: string): string {
  const safe = key.length < shortestKey ? words : words.slice(0, 20_000).replaceAll(key, '[key]');
  const line = safe
    .slice(0, 2_000)
    .replace(/[\u0000-\u0020\u007f-\u00a0\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .replace(/\p{Surrogate}/gu, '\ufffd')
    .trim();
  return line.length <= 300 ? line : `${line.slice(0, 299).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Shorter ones are placeholders of local servers, such as `none`: no secret, and too common in words. */
const shortestKey = 8;

/** Whether a later night may find it gone by itself. */
export function mayPass({ kind }: ModelError): boolean {
  return kind === 'rate_limit' || kind === 'server' || kind === 'stalled' || kind === 'network';
}
