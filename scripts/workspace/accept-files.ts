import { byBinary, type Files } from '../shared/files.ts';
import type { AcceptContext, Dropped } from './accept.ts';
import { readBlockLines } from './block-lines.ts';
import { isWritable, memorySummaryPath, sizeLimits, skillOf } from './layout.ts';
import { type Unit, unitsOf } from './lines.ts';
import { insertUnits } from './restore.ts';
import { skillViolations } from './skill-rules.ts';
import { summaryViolations } from './summary-rules.ts';
import type { Violation } from './violation.ts';

/** Skills one by one; a wrong one falls back to the start's, a person's is left alone. */
export function acceptSkills(start: Files, proposal: Files, context: AcceptContext, dropped: Dropped[]): Files {
  const accepted = new Map<string, string>();
  const paths = new Set([...start.keys(), ...proposal.keys()].filter((path) => skillOf(path) !== null));
  for (const path of [...paths].sort(byBinary)) {
    const [old, text] = [start.get(path), proposal.get(path)];
    const reason = old === text ? null : skillFault(path, text, context);
    if (reason !== null) dropped.push({ block: path, reason });
    const chosen = reason === null ? text : old;
    if (chosen !== undefined) accepted.set(path, chosen);
  }
  return accepted;
}

function skillFault(path: string, text: string | undefined, context: AcceptContext): string | null {
  if (context.isPersonSkill(path)) return 'a person wrote this skill';
  if (text === undefined) return null;
  if (Buffer.byteLength(text) > sizeLimits.fileBytes) return `larger than ${sizeLimits.fileBytes} bytes`;
  return firstError(skillViolations(path, text, context.scope));
}

/** The proposal's memory summary with persons' lines put back; the start's where that breaks a rule. */
export function acceptSummary(
  start: Files,
  proposal: Files,
  files: Files,
  context: AcceptContext,
  dropped: Dropped[],
): string | undefined {
  const old = start.get(memorySummaryPath);
  const text = proposal.get(memorySummaryPath);
  if (!isWritable(memorySummaryPath, context.scope) || text === old) return old;
  if (text === undefined) {
    dropped.push({ block: memorySummaryPath, reason: 'the memory summary cannot be deleted' });
    return old;
  }
  const standing = new Set(summaryUnits(text).map(({ hash }) => hash));
  const lost = summaryUnits(old ?? '').filter(
    ({ hash }) => context.isPersonLine(context.scope, hash) && !standing.has(hash),
  );
  const whole = lost.length === 0 ? text : insertUnits(text, lost);
  const reason = firstError(summaryViolations(whole, files, context));
  if (reason === null) return whole;
  dropped.push({ block: memorySummaryPath, reason });
  return old;
}

function summaryUnits(text: string): Unit[] {
  return unitsOf({ lines: readBlockLines(text), line: 1 }).filter(({ kind }) => kind !== 'heading');
}

function firstError(found: readonly Violation[]): string | null {
  const fault = found.find(({ severity }) => severity === 'error');
  return fault === undefined ? null : `line ${fault.line}: ${fault.message} (${fault.rule})`;
}
