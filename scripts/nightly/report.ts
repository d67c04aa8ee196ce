import { batchJson, batchLine } from '../model/batch-words.ts';
import type { Ledger } from '../model/ledger.ts';
import { markdownText, terminalText } from '../shared/escape.ts';
import { byBinary } from '../shared/files.ts';
import { resourceDays } from '../workspace/extension.ts';
import { underWay } from './batches.ts';
import type { NightReport } from './night.ts';

/** What a night did, in lines for a person. Names of sessions and words of theirs are escaped. */
export function nightText(report: NightReport, ledger: Ledger): string {
  const { phase1, phase2, commits } = report;
  const lines = [headline(report), ''];
  if (report.phases.one)
    lines.push(
      `sessions   ${report.found.length} found, ${countOf(phase1.extracted)} extracted, ${countOf(phase1.nothing)} without anything worth keeping`,
    );
  if (report.usage.citations > 0) lines.push(`           ${report.usage.citations} citations of memory counted`);
  for (const [reason, count] of reasonsOf(report)) lines.push(`           ${count} skipped: ${reason}`);
  for (const { threadId, failure, detail } of phase1.failed) {
    lines.push(`           failed: ${terminalText(threadId)}: ${failure}: ${terminalText(detail).slice(0, 200)}`);
  }
  if (phase1.left.length > 0)
    lines.push(
      `           ${phase1.left.length} left for the next night: the cap, the time or the allowance is over, or they came after its start`,
    );
  for (const line of batchLines(report)) lines.push(`batch      ${line}`);
  if (phase1.unverified > 0) lines.push(`           ${phase1.unverified} quotes could not be verified and are marked`);
  for (const [reason, count] of ignoredOf(report)) lines.push(`files      ${count} passed over: ${reason}`);
  for (const scope of phase2.scopes) {
    const facts = [
      ...(scope.selected > 0 ? [`${scope.selected} session${scope.selected === 1 ? '' : 's'}`] : []),
      ...(scope.waiting > 0 ? [`${scope.waiting} waiting`] : []),
      ...(scope.forgotten.length > 0 ? [`${scope.forgotten.length} forgotten`] : []),
      ...(scope.dropped.length > 0 ? [`${scope.dropped.length} left out`] : []),
      ...(scope.restored > 0 ? [`${scope.restored} lines of people put back`] : []),
      ...(scope.detail === '' ? [] : [terminalText(scope.detail).slice(0, 300)]),
    ];
    lines.push(
      `memory     ${terminalText(scope.scope)}: ${scope.outcome}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}`,
    );
    for (const { block, reason } of scope.dropped)
      lines.push(`           left out: ${terminalText(block).slice(0, 80)}: ${terminalText(reason).slice(0, 200)}`);
  }
  lines.push(...noteLines(report));
  const { added, removed } = report.people;
  if (added + removed > 0)
    lines.push(
      `people     ${added} ${added === 1 ? 'line is' : 'lines are'} theirs, ${removed} removed by them and forgotten`,
    );
  const secrets = Object.values(phase1.secrets).reduce((sum, count) => sum + count, 0);
  if (secrets > 0) lines.push(`secrets    ${secrets} removed before anything was stored (${rulesOf(phase1.secrets)})`);
  const cost = costOf(ledger);
  if (cost !== '') lines.push(`tokens     ${cost}`);
  for (const [name, oid] of [
    ['inputs', commits.inputs],
    ['learned', commits.learned],
  ] as const) {
    if (oid !== null) lines.push(`commit     ${oid.slice(0, 12)} ${name}`);
  }
  return lines.join('\n');
}

/** The same for a step summary, as Markdown. */
export function nightMarkdown(report: NightReport, ledger: Ledger): string {
  const { phase1, phase2 } = report;
  const rows = phase2.scopes.map(
    (scope) =>
      `| ${markdownText(scope.scope)} | ${scope.outcome} | ${scope.selected} | ${scope.waiting} | ${scope.forgotten.length} | ${scope.dropped.length} |`,
  );
  return [
    `## Memory, run ${report.runId}`,
    '',
    markdownText(headline(report)),
    '',
    `${report.found.length} sessions found · ${countOf(phase1.extracted)} extracted · ${countOf(phase1.nothing)} without output · ${phase1.failed.length} failed · ${phase1.left.length} left`,
    '',
    '| repository | outcome | sessions | waiting | forgotten | left out |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
    ...reasonsOf(report).map(([reason, count]) => `- ${count} skipped: ${reason}`),
    ...phase1.failed.map(({ threadId, failure }) => `- failed: ${markdownText(threadId)}: ${failure}`),
    ...batchLines(report).map((line) => `- batch ${markdownText(line)}`),
    ...(costOf(ledger) === '' ? [] : ['', markdownText(costOf(ledger))]),
  ].join('\n');
}

/** The same for machines. */
export function nightJson(report: NightReport, ledger: Ledger): Record<string, unknown> {
  const { phase1, phase2, commits } = report;
  return {
    run_id: report.runId,
    outcome: report.outcome,
    branch: report.branch,
    commits: { inputs: commits.inputs, learned: commits.learned, state: commits.state, tip: commits.tip },
    sessions: {
      found: report.found.length,
      extracted: phase1.extracted,
      nothing: phase1.nothing,
      failed: phase1.failed.map(({ threadId, failure, detail }) => ({ thread_id: threadId, failure, detail })),
      left: phase1.left,
      skipped: Object.fromEntries([...report.skipped].sort(([a], [b]) => byBinary(a, b))),
      ignored: report.ignored,
      unverified: phase1.unverified,
      citations: report.usage.citations,
    },
    ...batchesJson(report),
    scopes: phase2.scopes.map(({ scope, outcome, detail, selected, waiting, forgotten, dropped, restored, turns }) => ({
      scope,
      outcome,
      detail,
      selected,
      waiting,
      forgotten,
      dropped,
      restored,
      turns,
    })),
    people: report.people,
    notes: {
      added: report.notes.added,
      left_out: Object.fromEntries(report.notes.leftOut),
      aged: report.notes.aged,
    },
    secrets: phase1.secrets,
    state_bytes: report.stateBytes,
    usage: { phase1: ledger.total('phase1'), phase2: ledger.total('phase2') },
  };
}

/** What came back, what was asked for, what is waited for, and what went wrong. */
function batchLines({ batches: { batches, ended, submitted, problems } }: NightReport): string[] {
  return [
    ...ended.map(
      ({ id, status, answered, failed, unanswered }) =>
        `${terminalText(id)}  ${status}: ${answered} answered, ${failed} failed, ${unanswered} without an answer`,
    ),
    ...underWay(batches).map((one) => `${one.id === submitted?.id ? 'new: ' : 'waits for '}${batchLine(one)}`),
    ...problems.map(terminalText),
  ];
}

function batchesJson({ batches: { batches, ended, submitted, problems } }: NightReport): Record<string, unknown> {
  if (batches.length + ended.length + problems.length === 0) return {};
  return {
    batches: { under_way: underWay(batches).map(batchJson), submitted: submitted?.id ?? null, ended, problems },
  };
}

function noteLines({ notes }: NightReport): string[] {
  const { added, leftOut, aged } = notes;
  return [
    ...(added.length === 0 ? [] : [`notes      ${added.length} taken in`]),
    ...tally([...leftOut.values()].map((why) => why.replaceAll('_', ' '))).map(
      ([why, count]) => `notes      ${count} left out: ${why}`,
    ),
    ...(aged.length === 0 ? [] : [`notes      ${aged.length} resources taken away after their ${resourceDays} days`]),
  ];
}

/** Why a night had nothing to do, if so. */
function headline(report: NightReport): string {
  const { phase1, phase2 } = report;
  if (isIdle(report)) return `Nothing to do: ${whyQuiet(report)}.`;
  switch (report.outcome) {
    case 'partly':
      return `Partly done: ${batchTroubles(report)}${phase1.failed.length} sessions and ${phase2.scopes.filter(({ outcome }) => outcome === 'failed').length} repositories failed; the rest is kept.`;
    default:
      return `Done: ${whatWasDone(report)}${report.commits.tip === null ? '' : `, ${report.branch.replace('refs/heads/', '')} is at ${report.commits.tip.slice(0, 12)}`}.`;
  }
}

/** Quiet, or no more than noted which sessions wait. */
function isIdle({ outcome, phase1, batches, commits }: NightReport): boolean {
  const { extracted, nothing, failed, left } = phase1;
  return (
    outcome === 'quiet' ||
    (batches.submitted === null &&
      batches.problems.length === 0 &&
      commits.inputs === null &&
      [extracted, nothing, failed, left].every((one) => one.length === 0))
  );
}

function whyQuiet({ phases, found, skipped, phase1, phase2 }: NightReport): string {
  const left = phase1.left.length + phase2.scopes.filter(({ outcome }) => outcome === 'left').length;
  if (left > 0) return 'the cap, the time or the allowance of this night is over, and the rest waits for the next';
  if (!phases.one) return 'the memory is up to date, or rests until its next turn';
  if (found.length === 0) return 'the sources hold no session';
  if (found.every(({ thread }) => skipped.get(thread.id) === 'repository_not_included'))
    return 'no session is of an included repository; npm run nightly -- --dry-run shows theirs';
  return `every session is read or waits${phases.two ? ', and the memory is up to date' : ''}`;
}

function batchTroubles({ batches: { problems } }: NightReport): string {
  return problems.length === 0 ? '' : `${problems.length} ${problems.length === 1 ? 'batch' : 'batches'}, `;
}

function whatWasDone({ phases, phase1, batches, phase2, notes }: NightReport): string {
  const asked = batches.submitted === null ? '' : `, ${batches.submitted.requests.length} wait for a new batch`;
  const noted = notes.added.length === 0 ? '' : `, ${notes.added.length} notes were taken in`;
  if (phases.one) return `${countOf(phase1.extracted)} sessions taught something${asked}${noted}`;
  return `${phase2.scopes.filter(({ files }) => files !== null).length} scopes were consolidated`;
}

/** Reason → count, the commonest first. */
function reasonsOf(report: NightReport): [string, number][] {
  return tally([...report.skipped.values()].map((reason) => reason.replaceAll('_', ' ')));
}

function ignoredOf(report: NightReport): [string, number][] {
  return tally(report.ignored.map(({ reason }) => terminalText(reason).slice(0, 100)));
}

function tally(values: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || byBinary(a[0], b[0]));
}

function rulesOf(secrets: Readonly<Record<string, number>>): string {
  return Object.entries(secrets)
    .sort(([a, x], [b, y]) => y - x || byBinary(a, b))
    .slice(0, 8)
    .map(([rule, count]) => `${rule} ${count}`)
    .join(', ');
}

/** Tokens, requests and dollars of a run; empty where nothing was asked. */
export function costOf(ledger: Ledger): string {
  const { usage, usd, unpriced, replayed } = ledger.total();
  if (usage.requests === 0) return '';
  const money = usd > 0 ? `, $${usd.toFixed(4)}` : unpriced > 0 ? ', no price configured' : '';
  return `${usage.input} in (${usage.cached} cached), ${usage.output} out, ${usage.requests} requests${replayed > 0 ? `, ${replayed} answered by the journal` : ''}${money}`;
}

function countOf(ids: readonly string[]): number {
  return ids.length;
}
