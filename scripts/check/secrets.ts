import type { Files } from '../shared/files.ts';
import type { Redactor } from '../shared/redact.ts';
import { type Finding, lineFinder } from './finding.ts';
import { auditSecrets } from './secretlint.ts';

/** Secrets in any file, by our own rules and by another project's. No finding shows the secret. */
export async function secretFindings(files: Files, redactor: Redactor): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const [path, text] of files) {
    const ours = redactor.find(text);
    const lineAt = lineFinder(text);
    for (const { rule, start } of ours) found.push(secret(path, lineAt(start), rule));
    const others = (await auditSecrets(path, text)).filter(
      (other) => !ours.some(({ start, end }) => start < other.end && other.start < end),
    );
    for (const { rule, start } of [...others].sort((a, b) => a.start - b.start))
      found.push(secret(path, lineAt(start), rule));
  }
  return found;
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
