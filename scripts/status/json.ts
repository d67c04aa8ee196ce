import { batchJson } from '../model/batch-words.ts';
import type { Status } from './facts.ts';
import type { SourcesStatus } from './sources.ts';

/** The status for machines: times are epoch seconds. */
export function statusJson(
  status: Status,
  sources: SourcesStatus | null,
  warnings: readonly string[],
): Record<string, unknown> {
  const { sessions, journal, month } = status;
  return {
    branch: status.branch,
    state: { oid: status.stateOid, bytes: status.stateBytes, verdict: status.sizeVerdict },
    horizon: status.horizon,
    last_success: status.lastSuccess,
    month: { tokens: month.tokens, usd: month.usd, usd_per_month: month.usdPerMonth },
    runs: status.runs.map((run) => ({
      run_id: run.runId,
      started_at: run.startedAt,
      finished_at: run.finishedAt,
      outcome: run.outcome,
      counts: run.counts,
      usage: run.usage,
      models: run.models,
    })),
    scopes: status.scopes.map((scope) => ({
      scope: scope.scope,
      selected: scope.selected,
      waiting: scope.waiting,
      leaving: scope.leaving,
      consolidated_at: scope.consolidatedAt,
      by: scope.by,
      next: scope.next,
      at: scope.at,
      failures: scope.failures,
      last_error: scope.lastError,
    })),
    sessions: {
      known: sessions.known,
      unread: sessions.unread,
      running: sessions.running,
      failed: sessions.failed.map((one) => ({
        thread_id: one.threadId,
        repo: one.repo,
        title: one.title,
        error: one.error,
        tried_again_at: one.triedAgainAt,
        retries_left: one.retriesLeft,
      })),
    },
    stuck: status.stuck.map((job) => ({
      kind: job.kind,
      key: job.key,
      started_at: job.startedAt,
      lease_until: job.leaseUntil,
    })),
    pending_push: status.pendingPush,
    started_run: status.startedRun,
    journal: {
      answers: journal.answers,
      rejected: journal.rejected,
      tokens: journal.tokens,
      usd: journal.usd,
      under_way: journal.underWay,
      died: Object.fromEntries(journal.died),
    },
    ...(status.batches.length > 0 && { batches: status.batches.map(batchJson) }),
    sources: sources && {
      found: sources.found,
      ready: sources.ready.map(({ threadId, repo, title }) => ({ thread_id: threadId, repo, title })),
      skipped: sources.skipped.map(({ threadId, agent, repo, title, reason, until, batch }) => ({
        thread_id: threadId,
        agent,
        repo,
        title,
        reason,
        until,
        ...(batch !== null && { batch }),
      })),
      ignored: sources.ignored,
    },
    warnings,
  };
}
