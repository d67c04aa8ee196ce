import type { Files } from '../shared/files.ts';
import { parseHandbook, scopeOf } from '../workspace/handbook.ts';
import { handbookPath, isGenerated, memorySummaryPath, type Scope, sizeLimits } from '../workspace/layout.ts';
import type { Finding } from './finding.ts';
import { remedyOf } from './remedies.ts';

/** Share of a budget from which on it is told that it comes to its end. */
const nearlySpent = 0.8;

/** Budgets that are nearly spent; those that are exceeded are errors of their own. */
export function budgetFindings(files: Files): Finding[] {
  const found: Finding[] = [];
  const sizes = new Map<Scope, { bytes: number; line: number }>();
  for (const block of parseHandbook(files.get(handbookPath) ?? '').blocks) {
    const scope = scopeOf(block);
    if (scope === null) continue;
    const { bytes, line } = sizes.get(scope) ?? { bytes: 0, line: block.line };
    sizes.set(scope, { bytes: bytes + Buffer.byteLength(block.raw), line });
  }
  for (const [scope, { bytes, line }] of sizes)
    if (isNear(bytes, sizeLimits.scopeBytes))
      found.push(near(handbookPath, line, `The blocks of ${scope} have ${shareOf(bytes, sizeLimits.scopeBytes)}.`));
  const summary = files.get(memorySummaryPath) ?? '';
  if (isNear(summary.length, sizeLimits.summaryCharacters))
    found.push(near(memorySummaryPath, 1, `The summary has ${shareOf(summary.length, sizeLimits.summaryCharacters)}.`));
  for (const [path, text] of files) {
    if (path === handbookPath || path === memorySummaryPath || isGenerated(path)) continue;
    const bytes = Buffer.byteLength(text);
    if (isNear(bytes, sizeLimits.fileBytes))
      found.push(near(path, 1, `The file has ${shareOf(bytes, sizeLimits.fileBytes)}.`));
  }
  return found;
}

function isNear(size: number, limit: number): boolean {
  return size > limit * nearlySpent && size <= limit;
}

function shareOf(size: number, limit: number): string {
  return `${Math.floor((size / limit) * 100)} % of what it may have (${size} of ${limit})`;
}

function near(path: string, line: number, message: string): Finding {
  return { severity: 'warning', rule: 'budget.near', path, line, message, remedy: remedyOf('budget.near') };
}
