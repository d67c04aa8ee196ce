import type { Files } from '../shared/files.ts';
import type { Finding } from './finding.ts';

/**
 * Which findings the change brings: one that stands where it is proposed for too, by rule and by the words of its line,
 * is old and only a warning. A secret in a file that did not change is old as well.
 */
export function againstBase(findings: readonly Finding[], now: Files, old: readonly Finding[], base: Files): Finding[] {
  const known = new Set(old.map((finding) => keyOf(finding, base)));
  return findings.map((finding) => {
    const isUntouched = finding.rule.startsWith('secret.') && base.get(finding.path) === now.get(finding.path);
    const isOld = isUntouched || known.has(keyOf(finding, now));
    return { ...finding, isOld, severity: isOld ? 'warning' : finding.severity };
  });
}

/** Files whose text differs from the base's. */
export function changedFiles(now: Files, base: Files): Files {
  return new Map([...now].filter(([path, text]) => base.get(path) !== text));
}

/** The text of a line, from 1; '' where there is none. */
export function lineAt(files: Files, path: string, line: number): string {
  return (files.get(path) ?? '').split('\n')[line - 1] ?? '';
}

function keyOf({ rule, path, line }: Finding, files: Files): string {
  return JSON.stringify([rule, path, lineAt(files, path, line).trim()]);
}
