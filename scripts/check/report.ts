import { markdownText, terminalText } from '../shared/escape.ts';
import type { Finding } from './finding.ts';
import type { CheckReport } from './run.ts';

/** One finding a line with what to do below it, then how much was looked at. */
export function checkText(report: CheckReport): string {
  return [
    ...report.findings.flatMap((finding) => [
      `${place(finding)}: ${finding.severity} ${finding.rule}: ${terminalText(finding.message)}`,
      `    ${terminalText(finding.remedy)}`,
    ]),
    summaryLine(report),
  ].join('\n');
}

export function checkMarkdown(report: CheckReport): string {
  return [
    '## Memory check',
    '',
    markdownText(summaryLine(report)),
    ...(report.findings.length === 0 ? [] : ['', '| where | rule | what | what to do |', '|---|---|---|---|']),
    ...report.findings
      .slice(0, 200)
      .map(
        (finding) =>
          `| ${[place(finding), finding.rule, finding.message, finding.remedy].map(markdownText).join(' | ')} |`,
      ),
  ].join('\n');
}

export function checkJson(report: CheckReport): Record<string, unknown> {
  const { findings, files, blocks, bullets, summaries, stateBytes } = report;
  return {
    outcome: outcomeOf(report),
    checked: { files, blocks, bullets, summaries, state_bytes: stateBytes },
    findings,
  };
}

export function outcomeOf({ findings, exists }: CheckReport): 'errors' | 'warnings' | 'clean' | 'no_memory' {
  if (findings.some(({ severity }) => severity === 'error')) return 'errors';
  if (findings.length > 0) return 'warnings';
  return exists ? 'clean' : 'no_memory';
}

function summaryLine(report: CheckReport): string {
  const { findings, files, blocks, bullets, summaries, stateBytes } = report;
  const size = stateBytes === 0 ? 'no state' : `a state of ${Math.max(1, Math.round(stateBytes / 1000))} KB`;
  const checked = `${files} memory files (${blocks} blocks, ${bullets} bullets, ${summaries} summaries) and ${size} checked`;
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  switch (outcomeOf(report)) {
    case 'no_memory':
      return 'Nothing to check: there is no memory yet. npm run nightly makes it.';
    case 'clean':
      return `Clean: ${checked}.`;
    default:
      return `${errors} errors, ${findings.length - errors} warnings: ${checked}.`;
  }
}

function place({ path, line }: Finding): string {
  return `${terminalText(path)}:${line}`;
}
