import { openStateOfRef, type statePath, wayBackOfRef } from '../state/current.ts';
import type { State } from '../state/database.ts';
import { NewerSnapshotError, SnapshotError, wayBackOfCopy } from '../state/errors.ts';
import { migrations } from '../state/migrations.ts';
import { stateRef } from '../state/ref.ts';
import { openState, sizeVerdict, snapshotOf, stopBytes, warnBytes } from '../state/snapshot.ts';
import { parseSnapshotText } from '../state/snapshot-text.ts';
import type { Finding } from './finding.ts';

export interface CheckedState {
  /** null where it cannot be opened. */
  readonly state: State | null;
  readonly findings: readonly Finding[];
}

/** The copy in the branch's tree, or the state ref's own. */
export type StateSpot = typeof statePath | typeof stateRef;

/** Opens a snapshot and writes it again: the same bytes must come out. */
export async function checkState(path: StateSpot, text: string): Promise<CheckedState> {
  const findings = sizeFindings(path, Buffer.byteLength(text));
  try {
    const state = await (path === stateRef ? openStateOfRef(text) : openState(text));
    return { state, findings: [...findings, ...roundTrip(path, text, state)] };
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    const rule = error instanceof NewerSnapshotError ? 'state.newer' : 'state.damaged';
    const { line, reason, hint: remedy } = error;
    const message = `${reason.charAt(0).toUpperCase()}${reason.slice(1)}.`;
    return { state: null, findings: [...findings, { severity: 'error', rule, path, line, message, remedy }] };
  }
}

function sizeFindings(path: string, bytes: number): Finding[] {
  const verdict = sizeVerdict(bytes);
  if (verdict === 'fine') return [];
  const limit =
    verdict === 'stop' ? `a night stops at ${stopBytes / 1e6} MB` : `a night warns from ${warnBytes / 1e6} MB`;
  return [
    {
      severity: verdict === 'stop' ? 'error' : 'warning',
      rule: 'state.size',
      path,
      line: 1,
      message: `${Math.round(bytes / 1e5) / 10} MB: ${limit} on.`,
      remedy: 'Lower memory.max_unused_days in .github/memory.yml, so that old rows are pruned.',
    },
  ];
}

/** A snapshot of an older schema is brought to today's by the next night, so it cannot be compared. */
function roundTrip(path: StateSpot, text: string, state: State): Finding[] {
  if (parseSnapshotText(text).schema < migrations.length) return [];
  const again = snapshotOf(state);
  if (again === text) return [];
  const [was, is] = [text.split('\n'), again.split('\n')];
  const at = was.findIndex((line, index) => line !== is[index]);
  return [
    {
      severity: 'error',
      rule: 'state.bytes',
      path,
      line: at < 0 ? was.length : at + 1,
      message: 'A night would write this line in another way, so a person or a merge has changed it.',
      remedy: path === stateRef ? wayBackOfRef : wayBackOfCopy,
    },
  ];
}
