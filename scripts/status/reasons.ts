import type { SkipReason } from '../phase1/decide.ts';

/** What a skip reason means to the person whose session it is. */
export const reasonTexts: Readonly<Record<SkipReason, string>> = {
  sub_agent: 'a sub-agent’s: only sessions of people are read',
  ephemeral: 'ephemeral: its person asked for no trace',
  own_run: 'one of our own runs',
  origin_excluded: 'its origin stands in exclude_origins',
  repository_not_included: 'its repository does not stand in include',
  repository_excluded: 'its repository stands in exclude',
  no_human_words: 'no person said anything in it',
  disabled: 'taken out of memory',
  opted_out: 'a person keeps it out: by a word in it, by its hook, or by this laptop’s list',
  used_outside: 'it used the web or MCP servers, and memory.external_sessions is exclude',
  tombstoned: 'forgotten on purpose',
  short_id_taken: 'its short id is another session’s',
  too_old: 'older than memory.max_rollout_age_days; --since reads it',
  expired_unread: 'waited longer than 30 days; --since reads it',
  before_horizon: 'older than the memory’s horizon; --since reads it',
  not_idle: 'in use until lately: waits for memory.min_rollout_idle_hours; --now reads it',
  up_to_date: 'read already, and nothing was said since',
  running: 'a night is reading it',
  backoff: 'failed lately and is tried again later; --now tries it at once',
  exhausted: 'failed too often; newer activity wakes it',
  no_allowance: 'the allowance was used up',
  waits_for_batch: 'asked in a batch that is not answered yet; the next night looks for the answer',
};
