import type { Files } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { ruleContext } from '../state/rule-context.ts';
import { listTombstones, onRequest } from '../state/tombstones.ts';
import type { Scope } from '../workspace/layout.ts';
import { lineHash } from '../workspace/lines.ts';
import { cleanFiles } from './clean.ts';
import { doomedSoFar } from './doomed.ts';

/**
 * Takes out of memory files what `forget` took out, whoever wrote it: a branch that still has it, because its cleaning
 * was closed or an older tip was merged, must not bring the words back. What a person wrote that rests on something else
 * too stays as it is; so do all files where nobody asked.
 */
export function withoutRequested(state: State): (files: Files) => Files {
  const isAsked = listTombstones(state).some(({ reason, liftedAt }) => reason === onRequest && liftedAt === null);
  if (!isAsked) return (files) => files;
  const { isPersonLine } = ruleContext(state, null, 'team');
  const doomed = { ...doomedSoFar(state), spares: (scope: Scope, line: string) => isPersonLine(scope, lineHash(line)) };
  return (files) => cleanFiles(files, doomed);
}
