import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Repository } from '../git/types.ts';
import { agentFolders } from '../rollout/folders.ts';
import type { Source } from '../rollout/source.ts';
import { type Agent, agents } from '../rollout/types.ts';
import { type EpochSeconds, parseIsoTime } from '../shared/clock.ts';
import { configPath, parseConfig } from '../shared/config.ts';
import type { Config } from '../shared/config-schema.ts';
import { UsageError } from '../shared/errors.ts';
import type { Flags } from '../shared/flags.ts';
import type { Wishes } from './policy.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration of a repository: its working tree's, of a bare one the default branch's. */
export async function loadConfig(repository: Repository): Promise<Config> {
  if (repository.workTree !== null) {
    const path = join(repository.workTree, configPath);
    return parseConfig(existsSync(path) ? readFileSync(path, 'utf8') : null);
  }
  const { oid } = await repository.head();
  const files = oid === null ? null : await repository.readFiles(oid, [configPath]);
  return parseConfig(files?.get(configPath) ?? null);
}

/** The folder of the journal that a night replays. */
export function nightJournal({ commonDir }: Pick<Repository, 'commonDir'>): string {
  return join(commonDir, 'memory', 'journal');
}

/** The configuration with what the command line says instead. */
export function withFlags(config: Config, flags: Flags): Config {
  return withProvider(config, flags.valueOf('model') ?? null);
}

/** The configuration with the model that somebody asked for. @throws UsageError where it says too little for that. */
export function withProvider(config: Config, provider: string | null): Config {
  if (provider !== 'builtin' && provider !== 'openai') return config;
  if (
    provider === 'openai' &&
    (config.model.extract_model === undefined || config.model.consolidation_model === undefined)
  ) {
    throw new UsageError(
      '--model openai needs to know which models to ask.',
      `Write model.extract_model and model.consolidation_model into ${configPath}.`,
    );
  }
  const { extract, consolidation } = config.model.prices;
  const isPriced = extract !== undefined && consolidation !== undefined;
  if (provider === 'openai' && config.budget.usd_per_month !== undefined && !isPriced) {
    throw new UsageError(
      '--model openai cannot keep to budget.usd_per_month without prices.',
      `Write model.prices.extract and model.prices.consolidation into ${configPath}, or take the budget out.`,
    );
  }
  return { ...config, model: { ...config.model, provider } };
}

/** Where sessions are read from: `--source`, else the configuration's, else the agents' own folders on this machine. */
export function sourcesOf(config: Config, flags: Flags, home: string, env: Environment): Source[] {
  const named = flags.listOf('source');
  if (named.length > 0) return named.map(parseSource);
  if (config.sources.length > 0) return [...config.sources];
  if (config.include.length === 0) return [];
  return agentFoldersHere(home, env);
}

/** Those that this machine has. */
export function agentFoldersHere(home: string, env: Environment): Source[] {
  return agentFolders(env, home).filter(({ path }) => existsSync(path));
}

/** What the command line asks for beside the configuration. */
export function wishesOf(flags: Flags): Wishes {
  return { all: flags.listOf('source').length > 0, now: flags.isOn('now'), since: sinceOf(flags) };
}

/** `--since <date|all>`: null keeps the age limit. */
function sinceOf(flags: Flags): EpochSeconds | null {
  const since = flags.valueOf('since');
  if (since === undefined) return null;
  if (since === 'all') return 0;
  const at = parseIsoTime(since);
  if (at === null)
    throw new UsageError(`--since does not take “${since}”.`, 'Write a date such as 2026-11-01, or all.');
  return at;
}

export function parseSource(text: string): Source {
  const at = text.indexOf(':');
  const agent = agents.find((name) => name === text.slice(0, at));
  const path = text.slice(at + 1);
  if (agent === undefined || path === '') {
    throw new UsageError(
      `--source does not take “${text}”.`,
      `Write <agent>:<folder>, the agent being ${agents.slice(0, -1).join(', ')} or ${agents.at(-1)}.`,
    );
  }
  return { agent: agent satisfies Agent, path };
}
