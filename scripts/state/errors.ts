import { MemoryError, UsageError } from '../shared/errors.ts';

/** `state.sqlite.json` cannot be read. Names the line and the way back, never what the row says. */
export class SnapshotError extends MemoryError {
  /** 1-based. */
  readonly line: number;
  readonly reason: string;

  constructor(line: number, reason: string, hint: string = wayBackOfCopy, options: { cause?: unknown } = {}) {
    super(`state.sqlite.json, line ${line}: ${reason}.`, hint, options);
    this.line = line;
    this.reason = reason;
  }
}

/** A newer version of the scripts wrote the state. */
export class NewerSnapshotError extends SnapshotError {}

/** A file of the state ref's tree (`night.json`, a baseline) cannot be read. */
export class StateTreeError extends MemoryError {}

/** The SQL that a person typed was refused or failed; the state is as it was. */
export class QueryError extends UsageError {}

/** What leads from a bad published copy to the last good one. */
export const wayBackOfCopy =
  'Go back to the last good version: `git log --oneline -- state.sqlite.json` lists them, ' +
  '`git checkout <last good> -- state.sqlite.json` restores one.';
