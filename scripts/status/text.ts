import { batchLine } from '../model/batch-words.ts';
import type { SkipReason } from '../phase1/decide.ts';
import { type EpochSeconds, hour, isoTime } from '../shared/clock.ts';
import { terminalText } from '../shared/escape.ts';
import { cut, textTable } from '../shared/text-table.ts';
import { stopBytes, warnBytes } from '../state/snapshot.ts';
import type { RunRow } from '../state/types.ts';
import type { Status } from './facts.ts';
import { reasonTexts } from './reasons.ts';
import type { ScopeStatus } from './scopes.ts';
import type { SkippedSession, SourcesStatus } from './sources.ts';

/** The status in paragraphs for a person. Words of sessions are escaped. */
export function statusText(status: Status, sources: SourcesStatus | null, now: EpochSeconds): string {
  const paragraphs = [
    head(status, now),
    runLines(status),
    scopeLines(status, now),
    sessionLines(status),
    journalLines(status),
    batchLines(status),
    sources === null ? [noSources] : sourceLines(sources),
  ];
  return paragraphs
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

const noSources =
  'No sources: list repositories as include in .github/memory.yml, or name some: --source <agent>:<folder>.';

/** Sessions of one reason that are named; --json names all. */
const shownSessions = 20;

function head(status: Status, now: EpochSeconds): string[] {
  const { stateOid, stateBytes, branch, horizon, month, lastSuccess, pendingPush, startedRun } = status;
  if (stateOid === null && status.runs.length === 0) return ['No night has run here yet: npm run nightly.'];
  const from = stateOid === null ? 'the published copy in HEAD' : `refs/memory/state ${stateOid.slice(0, 12)}`;
  const spent = `${month.tokens} tokens, $${month.usd.toFixed(2)}`;
  return [
    `memory     of ${terminalText(branch.replace('refs/heads/', ''))}, last consolidated ${whenAgo(lastSuccess, now)}`,
    `state      ${from}, ${size(stateBytes)} (warns from ${size(warnBytes)}, stops at ${size(stopBytes)})`,
    `horizon    ${horizon === null ? 'none yet: nothing was pruned' : isoTime(horizon)}`,
    `this month ${spent}${month.usdPerMonth === null ? ', no budget set' : ` of $${month.usdPerMonth.toFixed(2)}`}`,
    ...(pendingPush === null
      ? []
      : [
          `pending    ${terminalText(pendingPush.ref)} → ${pendingPush.tip.slice(0, 12)} of run ${terminalText(pendingPush.runId)}`,
        ]),
    ...(startedRun === null
      ? []
      : [
          `started    run ${terminalText(startedRun.runId)}, ${isoTime(startedRun.startedAt)}, without a result so far`,
        ]),
  ];
}

function runLines({ runs }: Status): string[] {
  if (runs.length === 0) return [];
  return ['last runs', ...runs.map((run) => `  ${isoTime(run.startedAt)}  ${run.outcome.padEnd(6)}  ${runFacts(run)}`)];
}

function runFacts({ counts, usage, models }: RunRow): string {
  const count = (name: string) => counts[name] ?? 0;
  const sum = (name: string) => Object.values(usage).reduce((total, phase) => total + (phase[name] ?? 0), 0);
  const tokens = sum('input') + sum('output');
  return [
    `${count('extracted')} extracted`,
    `${count('nothing')} without output`,
    `${count('failed')} failed`,
    `${count('left')} left`,
    `${count('scopes_consolidated')} scopes consolidated${count('scopes_failed') > 0 ? ` (${count('scopes_failed')} failed)` : ''}`,
    ...(tokens > 0 ? [`${tokens} tokens`, `$${(sum('micro_usd') / 1_000_000).toFixed(4)}`] : []),
    terminalText(models),
  ].join(', ');
}

function scopeLines({ scopes }: Status, now: EpochSeconds): string[] {
  if (scopes.length === 0) return [];
  const columns = [
    { name: 'repository', align: 'left' },
    { name: 'sessions', align: 'right' },
    { name: 'waiting', align: 'right' },
    { name: 'leaving', align: 'right' },
    { name: 'last consolidated', align: 'left' },
    { name: 'next', align: 'left' },
  ] as const;
  const rows = scopes.map((scope) => [
    scope.scope,
    String(scope.selected),
    String(scope.waiting),
    String(scope.leaving),
    scope.consolidatedAt === null
      ? 'never'
      : `${isoTime(scope.consolidatedAt)}${scope.by === null ? '' : ` by ${scope.by}`}`,
    turn(scope, now),
  ]);
  const failed = scopes.filter(({ lastError }) => lastError !== null);
  return [
    ...textTable(columns, rows, 60),
    ...failed.map(
      ({ scope, failures, lastError }) =>
        `  ${terminalText(scope)} failed${failures > 1 ? ` ${failures} times on the same input` : ''}: ${words(lastError ?? '', 300)}`,
    ),
  ];
}

function turn({ next, at }: ScopeStatus, now: EpochSeconds): string {
  const when = at === null ? '' : ` until ${isoTime(at)} (${inHours(at - now)})`;
  switch (next) {
    case 'rests':
      return 'nothing to do';
    case 'due':
      return 'with the next night';
    case 'cooldown':
      return `cooldown${when}`;
    case 'backoff':
      return `backoff after a failure${when}`;
    case 'running':
      return `a night works on it${when}`;
  }
}

function sessionLines({ sessions, stuck }: Status): string[] {
  const lines = [
    ...(sessions.known > 0 ? [`sessions   ${sessions.known} known, ${sessions.unread} wait to be read`] : []),
    ...sessions.failed.map(({ threadId, repo, title, error, triedAgainAt, retriesLeft }) => {
      const again =
        retriesLeft === 0
          ? 'given up until it has newer activity'
          : `tried again${triedAgainAt === null ? '' : ` from ${isoTime(triedAgainAt)} on`}, ${retriesLeft} retries left`;
      return `  failed   ${terminalText(threadId)}  ${terminalText(repo)}  ${words(title, 50)}\n           ${words(error, 300)}; ${again}`;
    }),
  ];
  return [
    ...lines,
    ...stuck.map(
      ({ kind, key, leaseUntil }) =>
        `  stuck    ${terminalText(key)} (${kind}): its lease ended ${leaseUntil === null ? 'without a time' : isoTime(leaseUntil)}`,
    ),
  ];
}

function journalLines({ journal }: Status): string[] {
  const { answers, rejected, tokens, usd, underWay } = journal;
  if (answers + rejected + underWay.length === 0) return [];
  return [
    `journal    ${answers} paid answers wait to be used, ${rejected} were of no use (${tokens} tokens, $${usd.toFixed(4)})`,
    ...(underWay.length === 0
      ? []
      : [`           under way now, or when the last night died: ${underWay.map(terminalText).join(', ')}`]),
  ];
}

function batchLines({ batches }: Status): string[] {
  return batches.length === 0 ? [] : ['batches at the model’s server', ...batches.map((one) => `  ${batchLine(one)}`)];
}

function sourceLines({ found, ready, skipped, ignored }: SourcesStatus): string[] {
  const reasons = [...new Set(skipped.map(({ reason }) => reason))].map((reason): [SkipReason, SkippedSession[]] => [
    reason,
    skipped.filter((session) => session.reason === reason),
  ]);
  const byCount = reasons.sort((a, b) => b[1].length - a[1].length);
  return [
    `sources    ${found} sessions found, ${ready.length} would be read now`,
    ...named(ready, ({ threadId, repo, title }) => sessionLine(threadId, repo, title)),
    ...byCount.flatMap(([reason, sessions]) => [
      `  ${sessions.length} ${reason.replaceAll('_', ' ')}: ${reasonTexts[reason]}`,
      ...named(sessions, ({ threadId, repo, title, until, batch }) =>
        sessionLine(
          threadId,
          repo,
          title,
          until !== null
            ? `  until ${isoTime(until)}`
            : batch === null
              ? ''
              : `  waits for batch ${terminalText(batch)}`,
        ),
      ),
    ]),
    ...(ignored.length === 0 ? [] : [`  ${ignored.length} files passed over`]),
    ...named(ignored, ({ path, reason }) => `    ${terminalText(path)}: ${words(reason, 200)}`),
  ];
}

function named<T>(all: readonly T[], line: (one: T) => string): string[] {
  const more = all.length - shownSessions;
  return [...all.slice(0, shownSessions).map(line), ...(more > 0 ? [`    … and ${more} more; --json names all`] : [])];
}

function sessionLine(threadId: string, repo: string, title: string, more = ''): string {
  return `    ${terminalText(threadId)}  ${terminalText(repo)}  ${words(title, 50)}${more}`;
}

function words(text: string, width: number): string {
  return cut(terminalText(text.replace(/\s+/g, ' ')), width);
}

function whenAgo(at: EpochSeconds | null, now: EpochSeconds): string {
  if (at === null) return 'never';
  return `${isoTime(at)}, ${inHours(now - at)} ago`;
}

function inHours(seconds: number): string {
  const hours = Math.max(0, Math.round(seconds / hour));
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

function size(bytes: number): string {
  return bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} KB` : `${Math.round(bytes / 100_000) / 10} MB`;
}
