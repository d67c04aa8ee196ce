import type { Files } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { getThread, threadByShortId } from '../state/threads.ts';
import { tombstonesOf } from '../state/tombstones.ts';
import { splitHeader } from '../workspace/inputs.ts';
import { everywhere, handbookPath, stemOf } from '../workspace/layout.ts';
import { lineHash } from '../workspace/lines.ts';
import type { RuleContext } from '../workspace/violation.ts';
import type { Finding } from './finding.ts';
import type { PlacedBullet } from './pairs.ts';
import { remedyOf } from './remedies.ts';

/**
 * What was forgotten and stands here again: lines that rest on evidence under a tombstone, summaries of sessions under
 * one. A person may write a forgotten line again, which lifts the tombstone when it is merged.
 */
export function forgottenFindings(
  files: Files,
  bullets: readonly PlacedBullet[],
  state: State,
  context: RuleContext,
): Finding[] {
  const tombstones = tombstonesOf(state);
  if (tombstones.isEmpty) return [];
  const found: Finding[] = [];
  for (const { evidence, scope, line, raw } of bullets) {
    const items = evidence.flatMap(({ thread, items: numbers }) => {
      const known = threadByShortId(state, thread);
      if (known === null) return [];
      const scopes = scope === everywhere ? [scope, known.repo] : [scope];
      return numbers.map((n) => scopes.some((each) => tombstones.hidesEvidence(known.threadId, n, each)));
    });
    const hidden = items.filter((isHidden) => isHidden).length;
    if (hidden === 0) continue;
    const isPersons = context.isPersonLine(scope, lineHash(raw));
    const all = hidden === items.length ? 'Everything' : `${hidden} of ${items.length} items`;
    const message = isPersons
      ? `${all} that this line rests on was forgotten; a person brings it back.`
      : `${all} that this line rests on was forgotten.`;
    found.push(finding(isPersons ? 'warning' : 'error', handbookPath, line, message));
  }
  for (const [path, text] of files) {
    if (stemOf(path) === null) continue;
    const threadId = splitHeader(text).header.thread_id ?? '';
    const isHidden =
      tombstones.hidesThread(threadId) || tombstones.hidesAuthor(getThread(state, threadId)?.author ?? null);
    if (isHidden) found.push(finding('error', path, 1, 'The session that this summary is of was forgotten.'));
  }
  return found;
}

function finding(severity: Finding['severity'], path: string, line: number, message: string): Finding {
  return { severity, rule: 'evidence.forgotten', path, line, message, remedy: remedyOf('evidence.forgotten') };
}
