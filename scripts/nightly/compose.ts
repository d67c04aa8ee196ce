import type { Repository, Signature } from '../git/types.ts';
import { type BatchServer, createBatchServer } from '../model/batch-server.ts';
import { ModelError } from '../model/errors.ts';
import { createGatheringModel } from '../model/gathering.ts';
import { type Journal, openJournal } from '../model/journal.ts';
import { createJournaledModel } from '../model/journaled.ts';
import { createLedger, type Ledger, type Price } from '../model/ledger.ts';
import { createOpenAiModel, type OpenAiModel, type OpenAiOptions } from '../model/openai.ts';
import type { Model } from '../model/types.ts';
import { createBuiltinExtractor } from '../phase1/builtin.ts';
import { createLlmExtractor, type LlmExtractorSettings } from '../phase1/llm.ts';
import type { Extractor } from '../phase1/types.ts';
import { createBuiltinConsolidator } from '../phase2/builtin.ts';
import { createAgentConsolidator } from '../phase2/llm.ts';
import type { Consolidator } from '../phase2/types.ts';
import { stopwatch } from '../shared/clock.ts';
import type { Config } from '../shared/config-schema.ts';
import { type Batches, batchesOver } from './batches.ts';
import { type Environment, nightJournal } from './settings.ts';

/** What reads and writes memory tonight, and what it may cost. */
export interface Engine {
  readonly extractor: Extractor;
  readonly consolidator: Consolidator;
  readonly fallback: Consolidator;
  readonly journal: Journal;
  readonly ledger: Ledger;
  /** Absent where nobody is asked. */
  readonly batches?: Batches;
  /** For the ledger and the commits' trailers. */
  readonly models: string;
  /** False when an allowance that the server reports is nearly used up. */
  goesOn(): boolean;
}

/** How long, and how often, the model's server is asked. */
export type Patience = Pick<OpenAiOptions, 'timeoutSeconds' | 'idleSeconds' | 'maxRetries' | 'wait'>;

/** Tokens of one extraction's and one consolidation turn's answer. */
const outputTokens = { extraction: 8_000, consolidation: 16_000 } as const;

/** Bounds of one scope's agent. @source design §6 */
const agentLimits = { turns: 80, inputTokens: 2_000_000, reviews: 2, minutes: 20 } as const;

/**
 * @param patience how long the model's server is waited for, where that differs from the usual.
 * @throws ModelError `key` where the configured variable holds none; UsageError for an address that is none.
 */
export function createEngine(
  config: Config,
  repository: Repository,
  env: Environment,
  redact: (text: string) => string,
  patience: Patience = {},
): Engine {
  const journal = openJournal(nightJournal(repository), redact);
  const ledger = createLedger({
    prices: pricesOf(config),
    caps: { phase1: { tokens: config.budget.phase1_tokens }, phase2: { tokens: config.budget.phase2_tokens } },
  });
  const fallback = createBuiltinConsolidator();
  if (config.model.provider !== 'openai') {
    const extractor = createBuiltinExtractor({ redact });
    return { extractor, consolidator: fallback, fallback, journal, ledger, models: 'builtin', goesOn: () => true };
  }
  const { extract_model: extract = '', consolidation_model: consolidation = '' } = config.model;
  const live = serverOf(config, env, patience);
  const watched = watchAllowance(live, config.memory.min_rate_limit_remaining_percent / 100);
  const model = createJournaledModel(watched.model, journal, ledger);
  const share = config.model.batch_price;
  const gathering = createGatheringModel(model, journal, ledger, { isOn: config.model.batch, share });
  const server = batchServerOf(config, env, patience);
  return {
    extractor: extractorOver(gathering, config, redact, gathering.reject),
    consolidator: createAgentConsolidator({
      audience: config.audience,
      language: config.language,
      redact,
      model,
      modelName: consolidation,
      contextWindow: config.model.context_window ?? null,
      limits: { ...agentLimits, outputTokensPerTurn: outputTokens.consolidation, elapsed: stopwatch },
    }),
    fallback,
    journal,
    ledger,
    batches: batchesOver({ server, live, gathering, journal, ledger, share, apiKey: apiKeyOf(config, env) }),
    models: extract === consolidation ? extract : `${extract} ${consolidation}`,
    goesOn: watched.goesOn,
  };
}

/** What asks for one shard's part of the sessions. */
export type ShardEngine = Pick<Engine, 'extractor' | 'ledger' | 'goesOn' | 'models'>;

/**
 * As the night's own engine, so that the night asks for the same. No answer is ever rejected: judging it is the night's,
 * which then needs every one of them again.
 * @param allowance the shard's part of what the night may spend.
 * @throws ModelError `key`, UsageError, as `createEngine`.
 */
export function createShardEngine(
  config: Config,
  env: Environment,
  redact: (text: string) => string,
  journal: Journal,
  allowance: { readonly tokens: number; readonly usd?: number },
  patience: Patience = {},
): ShardEngine {
  const { tokens, ...usd } = allowance;
  const ledger = createLedger({ prices: pricesOf(config), caps: { phase1: { tokens } }, ...usd });
  const least = config.memory.min_rate_limit_remaining_percent / 100;
  const { model: server, goesOn } = watchAllowance(serverOf(config, env, patience), least);
  const extractor = extractorOver(createJournaledModel(server, journal, ledger), config, redact, async () => undefined);
  return { extractor, ledger, goesOn, models: config.model.extract_model ?? '' };
}

function extractorOver(
  model: Model,
  config: Config,
  redact: (text: string) => string,
  reject: LlmExtractorSettings['reject'],
): Extractor {
  return createLlmExtractor({
    model,
    audience: config.audience,
    language: config.language,
    redact,
    modelName: config.model.extract_model ?? '',
    contextWindow: config.model.context_window ?? null,
    maxOutputTokens: outputTokens.extraction,
    reject,
  });
}

/** `Name <mail@example.com>`, as the configuration has checked it. */
export function signatureOf(config: Config): Signature {
  const match = /^(.+) <(.+)>$/.exec(config.git.author);
  return { name: match?.[1] ?? config.git.author, email: match?.[2] ?? '' };
}

function serverOf(config: Config, env: Environment, patience: Patience): OpenAiModel {
  const { base_url: baseUrl, wire } = config.model;
  const apiKey = apiKeyOf(config, env);
  return createOpenAiModel({ apiKey, wire, ...(baseUrl === undefined ? {} : { baseUrl }), ...patience });
}

/** The Batch API of the configured server. @throws as `createEngine`. */
export function batchServerOf(config: Config, env: Environment, patience: Patience = {}): BatchServer {
  const { base_url: baseUrl } = config.model;
  return createBatchServer({
    apiKey: apiKeyOf(config, env),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...patience,
  });
}

/** The configured key; '' for a server on this machine. @throws ModelError `key` where the variable holds none. */
export function apiKeyOf({ model }: Config, env: Environment): string {
  const apiKey = env[model.key_env] ?? '';
  if (apiKey.trim() === '' && !isLoopback(model.base_url)) {
    throw new ModelError(
      'key',
      `The environment variable ${model.key_env} holds no API key.`,
      `Set it, name another one as model.key_env in .github/memory.yml, or run with --model builtin, which needs none.`,
    );
  }
  return apiKey;
}

/** A server on this machine may ask for no key. */
function isLoopback(address: string | undefined): boolean {
  return address !== undefined && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(new URL(address).hostname);
}

function watchAllowance(model: Model, least: number): { model: Model; goesOn(): boolean } {
  let remaining = 1;
  return {
    model: {
      ask: async (request, signal) => {
        const reply = await model.ask(request, signal);
        remaining = reply.allowance ?? remaining;
        return reply;
      },
    },
    goesOn: () => remaining >= least,
  };
}

function pricesOf(config: Config): Record<string, Price> {
  const { extract_model: extract, consolidation_model: consolidation, prices } = config.model;
  return {
    ...(extract !== undefined && prices.extract !== undefined ? { [extract]: prices.extract } : {}),
    ...(consolidation !== undefined && prices.consolidation !== undefined
      ? { [consolidation]: prices.consolidation }
      : {}),
  };
}
