import type { Files } from '../shared/files.ts';
import { parsedJson } from '../shared/json.ts';
import type { Redactor, Finding as Secret } from '../shared/redact.ts';
import { statePath } from '../state/current.ts';
import { type Finding, lineFinder } from './finding.ts';
import { auditFiles } from './secretlint.ts';

/** Secrets in any file, by our own rules and by another project's. No finding shows the secret. */
export async function secretFindings(files: Files, redactor: Redactor): Promise<Finding[]> {
  const found: Finding[] = [];
  const audited = await auditFiles(files);
  for (const [path, text] of files) {
    const ours = redactor.find(text).filter((one) => path !== statePath || standsInACell(text, one, redactor));
    const lineAt = lineFinder(text);
    for (const { rule, start } of ours) found.push(secret(path, lineAt(start), rule));
    const others = (audited.get(path) ?? []).filter(
      (other) => !ours.some(({ start, end }) => start < other.end && other.start < end),
    );
    for (const { rule, start } of [...others].sort((a, b) => a.start - b.start))
      found.push(secret(path, lineAt(start), rule));
  }
  return found;
}

/**
 * Cells of a row stand side by side, and a branch named after a secret does not make one of the commit beside it. A row
 * that is no list is judged as it stands.
 */
function standsInACell(text: string, { rule, start, end }: Secret, redactor: Redactor): boolean {
  const row = lineAround(text, start, end).replace(/,$/, '');
  const cells = parsedJson(row);
  if (!Array.isArray(cells)) return true;
  const here = text.slice(start, end);
  return cells.some((cell) => typeof cell === 'string' && redactor.find(cell).some((found) => isSame(cell, found)));

  function isSame(cell: string, found: Secret): boolean {
    const alone = JSON.stringify(cell.slice(found.start, found.end)).slice(1, -1);
    return found.rule === rule && (alone.includes(here) || here.includes(alone));
  }
}

function lineAround(text: string, start: number, end: number): string {
  const next = text.indexOf('\n', end);
  return text.slice(text.lastIndexOf('\n', start) + 1, next < 0 ? text.length : next);
}

function secret(path: string, line: number, rule: string): Finding {
  return {
    severity: 'error',
    rule: `secret.${rule}`,
    path,
    line,
    message: 'A secret stands here.',
    remedy: 'Revoke it first, since whoever can read the repository has it. Then take it out, also from the history.',
  };
}
