import type { BatchRecord } from '../model/batch-record.ts';
import { batchLine } from '../model/batch-words.ts';
import type { SkipReason } from '../phase1/decide.ts';
import type { Ignored } from '../rollout/walk.ts';
import { markdownText, terminalText } from '../shared/escape.ts';
import { byBinary } from '../shared/files.ts';
import { textTable } from '../shared/text-table.ts';

/** What a night would do. Every text has passed redaction; none is escaped yet. */
export interface Forecast {
  /** In the order in which they would be read. */
  readonly rows: readonly ForecastRow[];
  readonly skipped: readonly SkippedRow[];
  readonly ignored: readonly Ignored[];
  readonly found: number;
  readonly tokens: number;
  /** For the input, in words. */
  readonly cost: string;
  /** At the model's server, as the last night saw them. */
  readonly batches: readonly BatchRecord[];
}

export interface ForecastRow {
  readonly thread_id: string;
  readonly agent: string;
  readonly repo: string;
  readonly title: string;
  readonly tokens: number;
  readonly secrets: number;
}

export interface SkippedRow {
  readonly threadId: string;
  readonly repo: string;
  readonly reason: SkipReason;
}

/** For a terminal. Of sessions whose repository is not included it shows the repositories, since those are what to write down. */
export function forecastText(forecast: Forecast): string {
  const { rows, ignored } = forecast;
  const outside = repositoriesOutside(forecast);
  const others = forecast.skipped.filter(({ reason }) => reason !== 'repository_not_included');
  return [
    headline(forecast),
    ...(rows.length === 0 ? [] : ['', ...textTable(sessionColumns, rows.map(cells), 60)]),
    ...(others.length === 0 ? [] : ['', 'Skipped', ...textTable(skippedColumns, others.map(skippedCells), 60)]),
    ...(outside.length === 0 ? [] : ['', notIncluded, ...textTable(repositoryColumns, outside, 100)]),
    ...(forecast.batches.length === 0 ? [] : ['', 'Batches', ...forecast.batches.map((one) => `  ${batchLine(one)}`)]),
    ...(ignored.length === 0
      ? []
      : ['', 'Passed over', ...ignored.map(({ path, reason }) => `${terminalText(path)}: ${terminalText(reason)}`)]),
  ].join('\n');
}

/** The same for a step summary, as Markdown; sessions that are skipped are counted there. */
export function forecastMarkdown(forecast: Forecast): string {
  const shown = forecast.rows.slice(0, mostRows);
  const reasons = new Map<string, number>();
  for (const { reason } of forecast.skipped) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  return [
    '## Memory, dry run',
    '',
    markdownText(headline(forecast)),
    '',
    ...(shown.length === 0 ? [] : ['| session | agent | repository | tokens | title |', '|---|---|---|--:|---|']),
    ...shown.map(
      ({ thread_id, agent, repo, tokens, title }) =>
        `| ${[thread_id, agent, repo, String(tokens), title.slice(0, 120)].map(markdownText).join(' | ')} |`,
    ),
    ...(forecast.rows.length > shown.length ? ['', `… and ${forecast.rows.length - shown.length} more.`] : []),
    '',
    ...[...reasons].map(([reason, count]) => `- ${count} skipped: ${reason.replaceAll('_', ' ')}`),
    ...forecast.batches.map((one) => `- batch ${markdownText(batchLine(one))}`),
  ].join('\n');
}

/** A step summary may hold 1 MiB. */
const mostRows = 500;
const notIncluded = 'Not included: list those that should take part as include in .github/memory.yml';
const left = (name: string) => ({ name, align: 'left' as const });
const right = (name: string) => ({ name, align: 'right' as const });
const sessionColumns = [
  ...['session', 'agent', 'repository'].map(left),
  ...['tokens', 'secrets'].map(right),
  left('title'),
];
const skippedColumns = ['session', 'repository', 'why'].map(left);
const repositoryColumns = [left('repository'), right('sessions')];

function headline({ rows, found, tokens, cost }: Forecast): string {
  return `Would read ${rows.length} of ${found} sessions, about ${tokens} tokens (${cost}).`;
}

function cells({ thread_id, agent, repo, tokens, secrets, title }: ForecastRow): string[] {
  return [thread_id, agent, repo, String(tokens), secrets === 0 ? '–' : String(secrets), title];
}

function skippedCells({ threadId, repo, reason }: SkippedRow): string[] {
  return [threadId, repo, reason.replaceAll('_', ' ')];
}

/** Repository and sessions, the busiest first. */
function repositoriesOutside({ skipped }: Forecast): string[][] {
  const counts = new Map<string, number>();
  for (const { repo, reason } of skipped)
    if (reason === 'repository_not_included') counts.set(repo, (counts.get(repo) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || byBinary(a[0], b[0])).map(([repo, count]) => [repo, String(count)]);
}
