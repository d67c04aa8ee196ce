/** Exit codes of every command: design §10. */
export const exitCodes = { done: 0, failed: 1, usage: 2, partly: 3, keyOrQuota: 4, rescue: 5 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An error for a person: the message says what happened, the hint what to do next. */
export class MemoryError extends Error {
  readonly hint: string;
  readonly exitCode: ExitCode;

  constructor(message: string, hint: string, options: { cause?: unknown; exitCode?: ExitCode } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.hint = hint;
    this.exitCode = options.exitCode ?? exitCodes.failed;
  }
}

/** The command line or the configuration is wrong; nothing was read or written. */
export class UsageError extends MemoryError {
  constructor(message: string, hint: string, options: { cause?: unknown } = {}) {
    super(message, hint, { ...options, exitCode: exitCodes.usage });
  }
}

/** What was thrown, as one line of text. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
