import { archiveTip } from '../archive/archive.ts';
import { archivedNotes } from '../archive/notes.ts';
import { archivedRollouts } from '../archive/rollouts.ts';
import type { Repository } from '../git/types.ts';
import type { Extractor } from '../phase1/types.ts';
import { redactedRollouts } from '../rollout/redacted.ts';
import type { Config } from '../shared/config-schema.ts';
import { MemoryError } from '../shared/errors.ts';
import type { World } from '../shared/main.ts';
import type { Shard } from '../shared/shard.ts';
import { findPullRequest } from './begin.ts';
import { nothingToRead } from './command.ts';
import { obeyArchive } from './forgotten-sessions.ts';
import { nightHere } from './here.ts';
import { joinedRollouts } from './joined-rollouts.ts';
import type { NightPolicy, NightPorts } from './night.ts';
import { type ComingNight, comingNight } from './shard-journals.ts';
import { loadStart, type Start } from './start.ts';
import type { Team } from './team.ts';
import { openTeam } from './team-command.ts';
import { fetchTips } from './team-facts.ts';
import { loadTeamStart } from './team-start.ts';

/** What a shard is told. */
export interface ShardCall {
  readonly shard: Shard;
  readonly repository: Repository;
  readonly config: Config;
  readonly world: World;
}

/** What a shard reads, and what it starts from: as the night that will replay it. */
export interface ShardStart {
  /** With what a person asked for instead. */
  readonly config: Config;
  readonly night: ComingNight;
  readonly start: Start;
  readonly policy: NightPolicy;
  readonly ports: Pick<NightPorts, 'rollouts' | 'notes'>;
  /** After so many seconds nothing new is begun. */
  readonly limitSeconds: number;
  /** Asks for what has to hold before the first request. */
  prove(extractor: Extractor): Extractor;
}

/** Why there is nothing for a shard to do. */
export interface NoShard {
  readonly nothing: string;
}

/** Why a night cannot be split, whatever there is to read; null where it can. */
export function whyUnsplit({ model }: Config): string | null {
  if (model.provider !== 'openai') {
    return 'Nothing to do: the built-in extractor asks no model, so there is nothing to split. npm run nightly reads all sessions.';
  }
  return model.batch
    ? 'Nothing to do: with model.batch all requests go to the model’s server at once, so there is nothing to split.'
    : null;
}

/** For a shard that a person starts: what the refs hold now. Nothing is taken, settled or moved. */
export async function startOfShard({ repository, config, world }: ShardCall): Promise<ShardStart | NoShard> {
  const unsplit = whyUnsplit(config);
  if (unsplit !== null) return { nothing: unsplit };
  const here = await nightHere(repository, config, world, { one: true, two: true });
  const { mode } = config.delivery;
  const why = nothingToRead(here.sources.length, mode, config);
  if (why !== null) return { nothing: why };
  const team = mode === 'commit' ? null : await openTeam(mode, config, repository, world);
  const night = await comingNight(repository);
  const common = {
    config,
    night,
    policy: here.policy,
    limitSeconds: config.budget.minutes * 60,
    prove: (extractor: Extractor) => extractor,
  };
  if (team === null) {
    const { rollouts, notes } = here;
    return { ...common, start: await loadStart(repository, 'look'), ports: { rollouts, notes } };
  }
  const tip = await archiveTip(team.archive, world.signal);
  const start = await lookAtTeam(team, { repository, world });
  await obeyArchive(start.state, repository, tip, world.clock.now());
  const archived = redactedRollouts(archivedRollouts(repository, tip), here.redactor);
  return {
    ...common,
    start,
    ports: {
      rollouts: joinedRollouts(archived, here.rollouts),
      notes: async () => [...(await archivedNotes(repository, tip)).notes, ...(await here.notes())],
    },
  };
}

async function lookAtTeam(team: Team, { repository, world }: Pick<ShardCall, 'repository' | 'world'>): Promise<Start> {
  const { base = null, branch } = team.config.delivery;
  const tips = await fetchTips(team.remote, { base, branch }, world.signal);
  const { start } = await loadTeamStart(tips, team.delivery, {
    repository,
    remote: team.remote,
    prove: async () => {
      throw new MemoryError(
        'A night began a push that has not ended, and a part of the sessions moves no ref.',
        'Finish it first: npm run publish. Then start the part again.',
      );
    },
    findPullRequest: (night, found) => findPullRequest(night, team, branch, found),
  });
  return start;
}
