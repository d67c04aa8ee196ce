import type { Files } from '../shared/files.ts';
import { parseHandbook, scopeOf } from '../workspace/handbook.ts';
import { splitHeader } from '../workspace/inputs.ts';
import { handbookPath, type Scope, stemOf } from '../workspace/layout.ts';
import { scopesOf } from '../workspace/scope.ts';
import { unexplainedShrinkage } from '../workspace/shrink.ts';
import type { Finding } from './finding.ts';
import { remedyOf } from './remedies.ts';

/**
 * Repositories whose handbook lost more than it can explain. What a night lost is an error, what people took out since
 * is theirs to decide and only told.
 * @param base what stands where the change is proposed for; null: nobody knows.
 * @param lastNight the files as the last night left them; null: nobody knows.
 */
export function shrinkFindings(base: Files | null, lastNight: Files | null, now: Files): Finding[] {
  const bySession = lastNight === null || base === null ? [] : lossesOf(base, lastNight, 'error', 'A night');
  return [...bySession, ...(lastNight === null ? [] : lossesOf(lastNight, now, 'warning', 'This change'))];
}

function lossesOf(before: Files, after: Files, severity: Finding['severity'], who: string): Finding[] {
  return [...scopesOf(before)].flatMap((scope) => {
    const lost = unexplainedShrinkage(blocksOf(before, scope), blocksOf(after, scope), leftThreads(before, after));
    if (lost === null) return [];
    const message = `${who} took out ${lost.lost} of the ${lost.of} lines of ${scope} that have evidence, and nothing that is new rests on it.`;
    return [
      {
        severity,
        rule: 'shrink.unexplained',
        path: handbookPath,
        line: 1,
        message,
        remedy: remedyOf('shrink.unexplained'),
      },
    ];
  });
}

/** Sessions that aged out, or were forgotten: their lines go with them. */
function leftThreads(before: Files, after: Files): ReadonlySet<string> {
  const left = threadsOf(before);
  for (const thread of threadsOf(after)) left.delete(thread);
  return left;
}

function threadsOf(files: Files): Set<string> {
  const summaries = [...files].filter(([path]) => stemOf(path) !== null);
  return new Set(summaries.map(([, text]) => splitHeader(text).header.thread ?? ''));
}

function blocksOf(files: Files, scope: Scope) {
  return parseHandbook(files.get(handbookPath) ?? '').blocks.filter((block) => scopeOf(block) === scope);
}
