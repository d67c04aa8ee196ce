import * as z from 'zod';

const text = z.string().trim().min(1);
const tokens = z.int().min(1_000).max(10_000_000_000);
const priceList = z.strictObject({
  input: z.number().min(0).max(10_000),
  cached: z.number().min(0).max(10_000),
  output: z.number().min(0).max(10_000),
});

/** `.github/memory.yml`: every key has a default, so that an empty file is a configuration. */
export const configSchema = z.strictObject({
  version: z.literal(1).default(1),
  enabled: z.boolean().default(true),
  audience: z.enum(['team', 'person']).default('team'),
  language: z.enum(['source', 'en']).default('source'),
  include: z.array(text).default([]),
  exclude: z.array(text).default([]),
  sources: z
    .array(
      z.strictObject({ agent: z.enum(['codex', 'claude-code', 'copilot', 'gemini', 'opencode', 'pi']), path: text }),
    )
    .default([]),
  exclude_origins: z.array(text).default([]),
  people: z.record(text, text).default({}),
  rollouts: z
    .strictObject({
      remote: text.optional(),
      ref: z
        .string()
        .regex(/^refs\/[\w./-]+$/)
        .default('refs/memory/rollouts'),
      token_env: text.optional(),
      retention_days: z.int().min(1).max(365).default(30),
    })
    .prefault({}),
  model: z
    .strictObject({
      /** Absent is `builtin` as well, but then nothing leaves this repository. */
      provider: z.enum(['builtin', 'openai']).optional(),
      base_url: z.url({ protocol: /^https?$/ }).optional(),
      key_env: z
        .string()
        .regex(/^[A-Za-z_]\w*$/)
        .default('OPENAI_API_KEY'),
      extract_model: text.optional(),
      consolidation_model: text.optional(),
      wire: z.enum(['auto', 'chat', 'responses']).default('auto'),
      context_window: z.int().min(4_000).max(10_000_000).optional(),
      concurrency: z.int().min(1).max(64).default(8),
      batch: z.boolean().default(false),
      batch_price: z.number().min(0).max(1).default(0.5),
      prices: z.strictObject({ extract: priceList.optional(), consolidation: priceList.optional() }).prefault({}),
    })
    .prefault({}),
  budget: z
    .strictObject({
      phase1_tokens: tokens.default(20_000_000),
      phase2_tokens: tokens.default(10_000_000),
      minutes: z.int().min(1).max(1_440).default(60),
      usd_per_month: z.number().min(0).max(1_000_000).optional(),
    })
    .prefault({}),
  memory: z
    .strictObject({
      max_raw_memories_for_consolidation: z.int().min(1).max(4_096).default(256),
      max_unused_days: z.int().min(0).max(365).default(30),
      max_rollout_age_days: z.int().min(0).max(90).default(10),
      min_rollout_idle_hours: z.int().min(1).max(48).default(6),
      min_rate_limit_remaining_percent: z.int().min(0).max(100).default(25),
      external_sessions: z.enum(['include', 'exclude', 'downrank']).default('include'),
    })
    .prefault({}),
  delivery: z
    .strictObject({
      mode: z.enum(['commit', 'push', 'pull-request']).default('commit'),
      base: text.optional(),
      branch: z
        .string()
        .regex(/^[\w./-]+$/)
        .default('memory/nightly'),
      labels: z.array(text).default([]),
      reviewers: z.array(text).default([]),
      draft: z.boolean().default(false),
      api_url: z.url({ protocol: /^https?$/ }).optional(),
      token_env: z
        .string()
        .regex(/^[A-Za-z_]\w*$/)
        .default('GITHUB_TOKEN'),
    })
    .prefault({}),
  git: z
    .strictObject({
      author: z
        .string()
        .regex(/^[^<>\n]+ <[^<>\s]+>$/, 'write it as “Name <mail@example.com>”')
        .default('commit-to-memory <commit-to-memory@users.noreply.github.com>'),
    })
    .prefault({}),
});

export type Config = z.infer<typeof configSchema>;

export interface ConfigIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** @returns the configuration with its defaults, or every mistake at once. */
export function readConfig(value: unknown): { readonly config: Config } | { readonly issues: readonly ConfigIssue[] } {
  const parsed = configSchema.safeParse(value);
  if (parsed.success) return { config: parsed.data };
  return { issues: parsed.error.issues.flatMap(issuesOf) };
}

function issuesOf(issue: z.core.$ZodIssue): ConfigIssue[] {
  const path = issue.path.filter((part) => typeof part !== 'symbol');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...path, key], message: 'is no key of this file' }));
  }
  return [{ path, message: issue.message }];
}
