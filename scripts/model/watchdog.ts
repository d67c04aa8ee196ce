import { abortedError, ModelError } from './errors.ts';

export interface Patience {
  /** Seconds that one request may take in all. */
  readonly timeoutSeconds: number;
  /** Seconds without a byte, once an answer is due, after which it has stalled. */
  readonly idleSeconds: number;
}

/** Gives a request up whose answer does not come, or not to its end. */
export interface Watchdog {
  readonly signal: AbortSignal;
  /** A byte came. */
  touch(): void;
  /** Why it gave up, if it did. */
  reason(): ModelError | null;
  stop(): void;
}

/** A streamed answer owes bytes from the start, any other only once it has begun. */
export function watchdog(options: Patience, outer: AbortSignal | undefined, isStream: boolean): Watchdog {
  const controller = new AbortController();
  let reason: ModelError | null = null;
  const giveUp = (error: ModelError) => {
    reason ??= error;
    controller.abort();
  };
  const aborted = () => giveUp(abortedError(outer?.reason));
  const startIdle = () =>
    setTimeout(() => giveUp(stalledError(`no byte for ${options.idleSeconds} s`)), options.idleSeconds * 1000);
  const total = setTimeout(
    () => giveUp(stalledError(`no whole answer within ${options.timeoutSeconds} s`)),
    options.timeoutSeconds * 1000,
  );
  let idle = isStream ? startIdle() : undefined;
  outer?.addEventListener('abort', aborted, { once: true });
  return {
    signal: controller.signal,
    touch: () => {
      idle = idle?.refresh() ?? startIdle();
    },
    reason: () => reason,
    stop: () => {
      clearTimeout(total);
      clearTimeout(idle);
      outer?.removeEventListener('abort', aborted);
    },
  };
}

export function stalledError(what: string): ModelError {
  return new ModelError(
    'stalled',
    `The model's server has stalled: ${what}.`,
    'It is tried again by itself. If that happens often, the server is overloaded or the model too slow.',
    { retries: 1 },
  );
}
