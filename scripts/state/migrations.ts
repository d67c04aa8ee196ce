import type { State } from './database.ts';

export interface Migration {
  readonly name: string;
  readonly sql: string;
}

/**
 * Every step that the schema took, in order; a snapshot's `schema` is how many of them it has. One that was released
 * is never edited: a change is a further step.
 */
export const migrations: readonly Migration[] = [
  {
    name: 'tables',
    sql: `
create table threads (
  thread_id text not null primary key,
  short_id text not null,
  agent text not null,
  origin text not null,
  author text,
  repo text not null,
  aliases text not null check (json_valid(aliases) and json_type(aliases) = 'array'),
  cwd text not null,
  branch text,
  commit_oid text,
  title text not null,
  started_at integer not null,
  updated_at integer not null,
  first_seen_at integer not null,
  memory_mode text not null check (memory_mode in ('enabled', 'disabled', 'polluted'))
) strict;

create table stage1_outputs (
  thread_id text not null,
  extractor_class text not null check (extractor_class in ('builtin', 'llm')),
  source_updated_at integer not null,
  raw_memory text not null,
  rollout_summary text not null,
  rollout_slug text not null,
  stem text not null,
  generated_at integer not null,
  prompt_hash text not null,
  run_id text not null,
  primary key (thread_id, extractor_class)
) strict;

create table evidence (
  thread_id text not null,
  n text not null,
  who text not null check (who in ('human', 'assistant', 'commentary', 'other_agent', 'harness', 'tool')),
  at integer,
  line integer not null,
  src_id text,
  author text,
  hash text not null,
  hedged integer not null check (hedged in (0, 1)),
  primary key (thread_id, n)
) strict;

create table jobs (
  kind text not null check (kind in ('memory_stage1', 'memory_consolidate')),
  key text not null,
  status text not null check (status in ('pending', 'running', 'done', 'error')),
  worker_id text,
  ownership_token text,
  started_at integer,
  finished_at integer,
  lease_until integer,
  retry_at integer,
  retry_remaining integer not null,
  last_error text,
  input_watermark integer,
  last_success_watermark integer,
  last_success_class text check (last_success_class in ('builtin', 'llm')),
  failed_input text,
  failures integer not null,
  held_runs text,
  primary key (kind, key)
) strict;

create table selection (
  scope text not null,
  thread_id text not null,
  extractor_class text not null check (extractor_class in ('builtin', 'llm')),
  source_updated_at integer not null,
  selected_at integer not null,
  primary key (scope, thread_id)
) strict;

create table citations (
  event_id text not null primary key,
  kind text not null check (kind in ('cited', 'read')),
  cited text not null,
  citing_thread text not null,
  author text,
  at integer not null,
  vote text generated always as (coalesce(author, citing_thread) || ' ' || (at / 86400)) virtual
) strict;

create table runs (
  run_id text not null primary key,
  started_at integer not null,
  finished_at integer not null,
  outcome text not null check (outcome in ('done', 'partly', 'failed', 'quiet')),
  counts text not null check (json_valid(counts) and json_type(counts) = 'object'),
  usage text not null check (json_valid(usage) and json_type(usage) = 'object'),
  models text not null,
  prompts_hash text not null
) strict;

create table tombstones (
  kind text not null check (kind in ('evidence', 'thread', 'author')),
  key text not null,
  reason text not null,
  run_id text,
  pull_request text,
  set_at integer not null,
  lifted_at integer,
  primary key (kind, key)
) strict;

create table lines (
  scope text not null,
  hash text not null,
  who text not null,
  since integer not null,
  primary key (scope, hash)
) strict;

create table meta (
  key text not null primary key,
  value text not null check (key <> 'horizon' or value = cast(cast(value as integer) as text))
) strict;
`,
  },
  {
    name: 'indexes and the usage view',
    sql: `
create index threads_short_id on threads (short_id);
create index threads_repo on threads (repo, thread_id);
create index citations_cited on citations (cited, kind, at);
create index citations_at on citations (at);
create index selection_thread on selection (thread_id);
create index runs_started on runs (started_at);

create view usage as
  select cited, count(distinct vote) as usage_count, max(at) as last_usage
  from citations where kind = 'cited' group by cited;
`,
  },
  {
    name: 'what sessions were shown',
    sql: `
create table shown (
  thread_id text not null primary key,
  author text,
  at integer not null,
  injected text not null,
  retrieved text not null,
  read text not null,
  vote text generated always as (coalesce(author, thread_id) || ' ' || (at / 86400)) virtual
) strict;

create index shown_at on shown (at);
`,
  },
];

/** Takes the schema from step `from` (0 is an empty database) to step `to`. */
export function migrate(state: State, from: number, to: number = migrations.length): void {
  for (const migration of migrations.slice(from, to)) state.transaction(() => state.script(migration.sql));
}
