import { UsageError } from '../shared/errors.ts';
import { parseYaml } from '../shared/yaml.ts';
import { catalogue, ruleOf } from './catalogue.ts';
import type { Finding } from './finding.ts';

/** Where findings are silenced. It is read beside the code, never from the tree that is judged. */
export const silencePath = '.github/memory-check.yml';

export interface Allowance {
  readonly rule: string;
  /** null: in every file. */
  readonly path: string | null;
  /** Words that the line has; null: any line. */
  readonly words: string | null;
  readonly because: string;
  /** In the file, from 1. */
  readonly line: number;
}

/**
 * @param text of the file, or null where there is none: nothing is silenced.
 * @throws UsageError naming every mistake with its line: an unknown rule or key, a firm rule, no reason.
 */
export function parseAllowances(text: string | null): Allowance[] {
  const { value, errors, lineOf } = parseYaml(text ?? '');
  const mistakes = errors.map(({ line, message }) => `line ${line}: ${message}`);
  const found: Allowance[] = [];
  const list = value === null || value === undefined ? [] : isRecord(value) ? value.allow : undefined;
  if (errors.length === 0 && !Array.isArray(list)) mistakes.push('line 1: it holds one key, `allow`, with a list.');
  if (errors.length === 0 && isRecord(value))
    for (const key of Object.keys(value))
      if (key !== 'allow') mistakes.push(`line ${lineOf([key]) ?? 1}: ${key} is unknown.`);
  for (const [index, entry] of (Array.isArray(list) ? list : []).entries()) {
    const line = lineOf(['allow', index]) ?? 1;
    const read = readEntry(entry, line);
    if (typeof read === 'string') mistakes.push(`line ${line}: ${read}`);
    else found.push(read);
  }
  if (mistakes.length === 0) return found;
  throw new UsageError(
    `${silencePath} has mistakes:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`,
    'How a finding is silenced stands in README.md, “Check”.',
  );
}

function readEntry(entry: unknown, line: number): Allowance | string {
  if (!isRecord(entry)) return 'each entry is rule, because and, to narrow it, path and words.';
  const unknown = Object.keys(entry).find((key) => !['rule', 'path', 'words', 'because'].includes(key));
  if (unknown !== undefined) return `${unknown} is unknown: an entry is rule, path, words, because.`;
  const { rule, path = null, words = null, because } = entry;
  if (typeof rule !== 'string' || !(rule in catalogue))
    return 'rule names no rule: npm run check -- --explain all lists them.';
  if (ruleOf(rule)?.isFirm === true) return `${rule} cannot be silenced.`;
  if (typeof because !== 'string' || because.trim().length < 10) return 'because says why, in at least ten characters.';
  if (!isText(path) || !isText(words)) return 'path and words are texts.';
  return { rule, path, words, because: because.trim(), line };
}

export interface Silenced {
  readonly findings: readonly Finding[];
  readonly silenced: readonly { readonly finding: Finding; readonly because: string }[];
  /** Entries that no finding needs any more. */
  readonly unused: readonly Allowance[];
}

/** @param lineAt the text of a line of a judged file. */
export function silence(
  findings: readonly Finding[],
  allowances: readonly Allowance[],
  lineAt: (path: string, line: number) => string,
): Silenced {
  const used = new Set<Allowance>();
  const left: Finding[] = [];
  const silenced: { finding: Finding; because: string }[] = [];
  for (const finding of findings) {
    const allowance = allowances.find(
      ({ rule, path, words }) =>
        rule === finding.rule &&
        (path === null || path === finding.path) &&
        (words === null || lineAt(finding.path, finding.line).includes(words)),
    );
    if (allowance === undefined) left.push(finding);
    else {
      used.add(allowance);
      silenced.push({ finding, because: allowance.because });
    }
  }
  return { findings: left, silenced, unused: allowances.filter((allowance) => !used.has(allowance)) };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
