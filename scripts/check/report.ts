import { markdownText, terminalText } from '../shared/escape.ts';
import { catalogue } from './catalogue.ts';
import type { Finding } from './finding.ts';
import type { CheckReport } from './run.ts';
import { silencePath } from './silence.ts';

/** One finding a line with what to do below it, then how much was looked at, and with what it was compared. */
export function checkText(report: CheckReport): string {
  return [
    ...report.findings.flatMap((finding) => [
      `${place(finding)}: ${finding.severity} ${finding.rule}: ${terminalText(finding.message)}${oldMark(finding)}`,
      `    ${terminalText(finding.remedy)}`,
    ]),
    summaryLine(report),
    ...notesOf(report).map(terminalText),
  ].join('\n');
}

export function checkMarkdown(report: CheckReport): string {
  return [
    '## Memory check',
    '',
    markdownText(summaryLine(report)),
    ...tableOf(
      '### Brought by this change',
      report.findings.filter(({ isOld }) => isOld !== true),
    ),
    ...tableOf(
      '### There before',
      report.findings.filter(({ isOld }) => isOld === true),
    ),
    ...(report.silenced.length === 0 ? [] : ['', '### Silenced', '', '| where | rule | because |', '|---|---|---|']),
    ...report.silenced.slice(0, mostRows).map(({ finding, because }) => row([place(finding), finding.rule, because])),
    ...(notesOf(report).length === 0 ? [] : ['', ...notesOf(report).map((note) => `- ${markdownText(note)}`)]),
  ].join('\n');
}

export function checkJson(report: CheckReport): Record<string, unknown> {
  const { findings, silenced, unused, files, blocks, bullets, summaries, stateBytes, ground, freshness } = report;
  return {
    outcome: outcomeOf(report),
    checked: { files, blocks, bullets, summaries, state_bytes: stateBytes },
    findings: findings.map(plain),
    silenced: silenced.map(({ finding, because }) => ({ ...plain(finding), because })),
    unused_allowances: unused.map(({ rule, line }) => ({ rule, line })),
    evidence: {
      compared_with_rollouts: ground.byRollout,
      compared_with_extracts: ground.byExtract,
      unseen: ground.unseen,
      without_hedge_list: ground.withoutHedges,
      authority: ground.authority,
    },
    freshness,
  };
}

function plain({ isOld, ...finding }: Finding): Record<string, unknown> {
  return isOld === undefined ? finding : { ...finding, old: isOld };
}

/** A rule, or all of them, for a person. null where there is no such rule. */
export function explained(id: string): string | null {
  const wanted = Object.entries(catalogue).filter(([rule]) => id === 'all' || rule === id);
  if (wanted.length === 0) return null;
  return wanted
    .map(([rule, { meaning, example, remedy, isFirm }]) =>
      [
        rule,
        `  means    ${meaning}`,
        `  example  ${example}`,
        `  remedy   ${remedy}`,
        `  silence  ${isFirm === true ? 'cannot be silenced' : `an entry in ${silencePath}: rule: ${rule}, because: <reason>`}`,
      ].join('\n'),
    )
    .join('\n\n');
}

export function outcomeOf({
  findings,
  exists,
}: Pick<CheckReport, 'findings' | 'exists'>): 'errors' | 'warnings' | 'clean' | 'no_memory' {
  if (findings.some(({ severity }) => severity === 'error')) return 'errors';
  if (findings.length > 0) return 'warnings';
  return exists ? 'clean' : 'no_memory';
}

/** What was compared with what, in sentences; none where there is nothing to say. */
function notesOf({ ground, freshness, unused, silenced }: CheckReport): string[] {
  const { byRollout, byExtract, unseen, withoutHedges, authority } = ground;
  const ways = [
    ...(byRollout > 0 ? [`${byRollout} with their sessions`] : []),
    ...(byExtract > 0 ? [`${byExtract} with what phase 1 wrote of them`] : []),
    ...(unseen > 0 ? [`${unseen} could not be, nothing of their sessions is at hand`] : []),
  ];
  return [
    ...(ways.length === 0 ? [] : [`Lines compared: ${ways.join(', ')}.`]),
    ...(ways.length === 0
      ? []
      : [
          `Whose word they are: ${authority.human} a person’s, ${authority.observed} observed, ${authority.agent} an agent’s, ${authority.external} from outside.`,
        ]),
    ...(withoutHedges === 0
      ? []
      : [`${withoutHedges} lines cite a language without a list of hedges: doubts are not looked for there.`]),
    ...(freshness === null || freshness.fresh + freshness.changed + freshness.gone + freshness.unknown === 0
      ? []
      : [
          `Files and names in lines: ${freshness.fresh} fresh, ${freshness.changed} changed since, ${freshness.gone} gone, ${freshness.unknown} unknown.`,
        ]),
    ...(silenced.length === 0 ? [] : [`${silenced.length} findings are silenced by ${silencePath}.`]),
    ...unused.map(({ rule, line }) => `${silencePath}, line ${line}: nothing breaks ${rule} there any more.`),
  ];
}

const mostRows = 200;

function tableOf(heading: string, findings: readonly Finding[]): string[] {
  if (findings.length === 0) return [];
  const rest = findings.length - mostRows;
  return [
    '',
    heading,
    '',
    '| where | rule | what | what to do |',
    '|---|---|---|---|',
    ...findings
      .slice(0, mostRows)
      .map((finding) => row([place(finding), `${finding.severity} ${finding.rule}`, finding.message, finding.remedy])),
    ...(rest > 0 ? ['', `and ${rest} more`] : []),
  ];
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(markdownText).join(' | ')} |`;
}

function oldMark({ isOld }: Finding): string {
  return isOld === true ? ' (there before)' : '';
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
