import { noUsage } from '../model/usage.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { State } from '../state/database.ts';
import { dueScopes } from '../state/scopes.ts';
import { addInputs } from '../workspace/inputs.ts';
import { prepareScope } from './prepare.ts';
import type { ConsolidationPolicy, ConsolidationReport, MemoryStart } from './run.ts';

/**
 * What phase 1 alone puts into the files: the inputs of sessions that are not there yet, for people to read and for
 * the next consolidation. Nothing is changed or removed, since blocks of the handbook may still name it.
 */
export function addNewInputs(
  state: State,
  start: MemoryStart,
  policy: ConsolidationPolicy,
  now: EpochSeconds,
): ConsolidationReport {
  const rows = dueScopes(state).flatMap((scope) => prepareScope(state, scope, start, policy, now).rows);
  const usage = noUsage;
  return { files: addInputs(start.files, rows), baseline: start.baseline, scopes: [], usage };
}
