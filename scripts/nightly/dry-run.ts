import type { Repository } from '../git/types.ts';
import { batchJson } from '../model/batch-words.ts';
import { inputBudget } from '../rollout/budget.ts';
import { filterRollout } from '../rollout/filter.ts';
import type { Rollouts } from '../rollout/source.ts';
import { renderItems } from '../rollout/tiers.ts';
import type { Config } from '../shared/config-schema.ts';
import { type ExitCode, exitCodes } from '../shared/errors.ts';
import type { World } from '../shared/main.ts';
import { estimateTokens } from '../shared/tokens.ts';
import { forecastMarkdown, forecastText } from './dry-run-report.ts';
import type { NightPolicy } from './night.ts';
import { extractorClassOf, outlook } from './outlook.ts';
import { loadStart } from './start.ts';

export interface DryRun {
  readonly repository: Repository;
  readonly rollouts: Rollouts;
  readonly config: Config;
  readonly policy: NightPolicy;
  readonly world: World;
}

/** Says what a night would read and send, with tokens and cost, and what it would skip and why. Writes nothing. */
export async function dryRun({ repository, rollouts, config, policy, world }: DryRun): Promise<ExitCode> {
  const start = await loadStart(repository, 'look');
  const { found, ignored } = await rollouts.list(world.signal);
  const extractorClass = extractorClassOf(config.model.provider);
  const { ready, skipped } = outlook(
    start.state,
    found,
    policy,
    extractorClass,
    world.clock.now(),
    start.night.batches,
  );
  const rows = [];
  for (const { thread } of ready) {
    const rollout = await rollouts.read(thread.id, world.signal);
    const { text } = renderItems(filterRollout(rollout).items, inputBudget(config.model.context_window ?? null));
    const secrets = Object.values(rollout.redaction).reduce((sum, count) => sum + count, 0);
    rows.push({
      thread_id: thread.id,
      agent: thread.agent,
      repo: thread.repo,
      title: thread.title,
      tokens: estimateTokens(text),
      secrets,
    });
  }
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0);
  const price = config.model.prices.extract;
  const isFree = config.model.provider !== 'openai';
  const share = config.model.batch ? config.model.batch_price : 1;
  const usd = isFree ? 0 : price === undefined ? null : (share * tokens * price.input) / 1_000_000;
  const { batches } = start.night;
  const repoOf = new Map(found.map(({ thread }) => [thread.id, thread.repo]));
  const forecast = {
    rows,
    skipped: [...skipped].map(([threadId, reason]) => ({ threadId, reason, repo: repoOf.get(threadId) ?? 'none' })),
    ignored,
    found: found.length,
    tokens,
    cost: isFree
      ? 'nothing is sent: the built-in extractor works here'
      : usd === null
        ? 'no price configured'
        : `$${usd.toFixed(4)} for the input${config.model.batch ? ', as a batch' : ''}`,
    batches,
  };
  world.log.summary(forecastMarkdown(forecast));
  world.log.result(
    world.flags.isOn('json')
      ? JSON.stringify({
          would_read: rows,
          skipped: Object.fromEntries(skipped),
          ignored,
          tokens,
          usd,
          ...(batches.length > 0 && { batches: batches.map(batchJson) }),
        })
      : forecastText(forecast),
  );
  return exitCodes.done;
}
