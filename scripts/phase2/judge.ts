import { areSame, type Files } from '../shared/files.ts';
import { type Acceptance, type AcceptContext, acceptBlocks, type Dropped } from '../workspace/accept.ts';
import { digestPath } from '../workspace/digest.ts';
import { parseHandbook } from '../workspace/handbook.ts';
import { everywhere, handbookPath, isGenerated, memorySummaryPath } from '../workspace/layout.ts';
import { lineHash } from '../workspace/lines.ts';
import { repair } from '../workspace/repair.ts';
import type { Prepared } from './prepare.ts';

/** What code can mend is mended, what is right is taken block by block, and secrets are masked. */
export function judge(scope: Prepared, proposed: Files, redact: (text: string) => string): Acceptance {
  const context: AcceptContext = {
    ...scope.context,
    scope: scope.scope,
    deletedThreads: scope.deletedThreads,
    isPersonSkill: (path) => scope.context.isPersonLine(scope.scope, lineHash(path)),
  };
  const mend = (files: Files): Files => {
    const mended = repair(new Map([...files, ...scope.summaries]), context);
    return new Map([...mended].filter(([path]) => !scope.summaries.has(path)));
  };
  const accepted = acceptBlocks(scope.ready, mend(masked(withoutDigest(proposed), redact)), context);
  return { ...accepted, files: withoutDigest(mend(accepted.files)) };
}

/** What stands in the way of a result, each as a sentence for the one who wrote it. */
export function problemsWith(scope: Prepared, files: Files, dropped: readonly Dropped[]): string[] {
  return [
    ...missing(scope, files),
    ...dropped.map(({ block, reason }) => (block === '' ? reason : `${block}: ${reason}`)),
  ];
}

/** Whether two results are one; the digest does not count. */
export function sameFiles(a: Files, b: Files): boolean {
  return areSame(withoutDigest(a), withoutDigest(b));
}

/** The smallest that a first consolidation must leave. */
function missing({ scope, mode }: Prepared, files: Files): string[] {
  if (scope === everywhere)
    return files.has(memorySummaryPath) ? [] : [`There is no ${memorySummaryPath} yet: write it.`];
  const isWritten = parseHandbook(files.get(handbookPath) ?? '').blocks.length > 0;
  return mode === 'incremental' || isWritten
    ? []
    : [`${handbookPath} has no block yet: write at least one, with its task and its references.`];
}

function masked(files: Files, redact: (text: string) => string): Files {
  return new Map([...files].map(([path, text]) => [path, isGenerated(path) ? text : redact(text)]));
}

/** The digest is made for one consolidation and stands in no tree. */
function withoutDigest(files: Files): Files {
  return new Map([...files].filter(([path]) => path !== digestPath));
}
