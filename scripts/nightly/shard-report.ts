import type { Ledger } from '../model/ledger.ts';
import { markdownText, terminalText } from '../shared/escape.ts';
import { shardText } from '../shared/shard.ts';
import { costOf } from './report.ts';
import type { ShardReport } from './shard.ts';

/** What a shard did, in lines for a person. @param journal the folder that it wrote. */
export function shardLines(report: ShardReport, ledger: Ledger, journal: string): string {
  const { failed, left } = report;
  const cost = costOf(ledger);
  return [
    headline(report),
    ...failed.map(
      ({ threadId, failure, detail }) =>
        `           no use: ${terminalText(threadId)}: ${failure}: ${terminalText(detail).slice(0, 200)}`,
    ),
    ...(left.length === 0
      ? []
      : [`           ${left.length} left to the night: this part's allowance or the time is over`]),
    ...(cost === '' ? [] : [`tokens     ${cost}`]),
    `journal    ${terminalText(journal)}`,
  ].join('\n');
}

/** The same for a step summary. */
export function shardMarkdown(report: ShardReport, ledger: Ledger): string {
  const cost = costOf(ledger);
  return [
    `## Shard ${shardText(report.shard)}`,
    '',
    headline(report),
    ...(cost === '' ? [] : ['', markdownText(cost)]),
  ].join('\n');
}

/** The same for machines. */
export function shardJson(
  { shard, sessions, read, failed, left }: ShardReport,
  ledger: Ledger,
  journal: string,
): Record<string, unknown> {
  return {
    outcome: 'done',
    shard: shardText(shard),
    journal,
    sessions: {
      found: sessions,
      read,
      failed: failed.map(({ threadId, failure, detail }) => ({ thread_id: threadId, failure, detail })),
      left,
    },
    usage: { phase1: ledger.total('phase1') },
  };
}

function headline({ shard, sessions, read, failed }: ShardReport): string {
  const part = `part ${shardText(shard)} of the sessions`;
  if (sessions === 0) return `Nothing to do: ${part} holds none to read.`;
  const bad = failed.length === 0 ? '' : `, ${failed.length} without an answer of use: the night decides`;
  return `Done: ${part}: ${read.length} of ${sessions} read${bad}.`;
}
