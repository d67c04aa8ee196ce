import type { Files } from '../shared/files.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import { getThread } from '../state/threads.ts';
import { rawSections, splitHeader } from '../workspace/inputs.ts';
import { isGenerated, rawMemoriesPath, stemOf } from '../workspace/layout.ts';
import type { Finding } from './finding.ts';
import { remedyOf } from './remedies.ts';

/**
 * What is wrong with the files that code makes: half of a merge, sessions that the state does not know.
 * @param states whoever knows sessions; none where there is none to ask.
 */
export function inputFindings(files: Files, states: readonly State[]): Finding[] {
  const findings = [...files].filter(([path]) => isGenerated(path)).flatMap(([path, text]) => conflicts(path, text));
  if (findings.length > 0) return findings;
  const raw = files.get(rawMemoriesPath) ?? '';
  const sections = new Map(
    rawSections(raw).map(({ threadId }) => [threadId, lineOf(raw, `## Thread \`${threadId}\``)]),
  );
  const summaries = new Map<string, string>();
  for (const [path, text] of files) {
    if (stemOf(path) === null) continue;
    const { thread_id: threadId = '', thread: short = '' } = splitHeader(text).header;
    if (threadId === '' || shortThreadId(threadId) !== short)
      findings.push(broken('input.head', path, 1, 'The head does not say whose summary this is.'));
    else if (summaries.has(threadId))
      findings.push(broken('input.twice', path, 1, `${summaries.get(threadId)} is of the same session.`));
    else summaries.set(threadId, path);
  }
  for (const [threadId, line] of sections)
    if (!summaries.has(threadId))
      findings.push(broken('input.pair', rawMemoriesPath, line, `Session ${threadId} has no summary.`));
  for (const [threadId, path] of summaries) {
    if (!sections.has(threadId))
      findings.push(broken('input.pair', path, 1, `Session ${threadId} has no section in raw_memories.md.`));
    if (states.length > 0 && states.every((state) => getThread(state, threadId) === null))
      findings.push(broken('input.unknown', path, 1, `The state knows no session ${threadId}.`));
  }
  return findings;
}

/** Marks of both ends: words of a session may well hold one of them alone. */
function conflicts(path: string, text: string): Finding[] {
  const start = /^<{7} /m.exec(text);
  if (start === null || !/^>{7} /m.test(text.slice(start.index))) return [];
  const line = text.slice(0, start.index).split('\n').length;
  return [broken('input.conflict', path, line, 'An unresolved merge conflict stands here.')];
}

function broken(rule: string, path: string, line: number, message: string): Finding {
  return { severity: 'error', rule, path, line, message, remedy: remedyOf(rule) };
}

function lineOf(text: string, heading: string): number {
  const at = text.indexOf(heading);
  return at < 0 ? 1 : text.slice(0, at).split('\n').length;
}
