import type { Repository } from '../git/types.ts';
import { lookAtJournal } from '../model/journal-look.ts';
import type { Config } from '../shared/config-schema.ts';
import type { Flags } from '../shared/flags.ts';
import { nightPolicy } from './policy.ts';
import { nightJournal, wishesOf } from './settings.ts';
import type { Start } from './start.ts';

/** What there is to be told of a repository as it stands: the input of `status/facts.ts`, without the time. */
export function lookOf(repository: Repository, config: Config, start: Start, flags: Flags) {
  return {
    branch: start.branch,
    state: start.state,
    stateBytes: Buffer.byteLength(start.stateText),
    stateOid: start.stateOid,
    night: start.night,
    memory: { files: start.memories, baseline: start.baseline },
    journal: lookAtJournal(nightJournal(repository)),
    policy: nightPolicy(config, wishesOf(flags)).consolidation,
    usdPerMonth: config.budget.usd_per_month ?? null,
  };
}
