import { openRepository } from '../../scripts/git/open.ts';
import { createEngine, type Patience } from '../../scripts/nightly/compose.ts';
import { nightlySpec } from '../../scripts/nightly/flags.ts';
import type { NightPorts } from '../../scripts/nightly/night.ts';
import { nightPolicy, type Wishes } from '../../scripts/nightly/policy.ts';
import { loadConfig } from '../../scripts/nightly/settings.ts';
import { runTeamNight, type Team, type TeamNight } from '../../scripts/nightly/team.ts';
import { openTeam } from '../../scripts/nightly/team-command.ts';
import { checkoutsFrom } from '../../scripts/rollout/checkouts.ts';
import { openRollouts, type Rollouts } from '../../scripts/rollout/source.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { type Ended, ranHere } from './nights.ts';
import type { StagedTeam } from './stages.ts';
import { botToken } from './team.ts';

/** How a night is not as others. */
export interface Bent {
  readonly clock?: string;
  /** The lease is watched without waiting; the ports are bent as a test wants them. */
  team?(team: Team): Team;
  rollouts?(rollouts: Rollouts): Rollouts;
  /** A machine that has played nights before, in place of a new clone. */
  readonly clone?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly wishes?: Wishes;
  readonly patience?: Patience;
  /** How it ended, as a value. */
  told?(night: TeamNight): void;
}

/** A night of a clone of its own over the team's sessions, with ports that a test may bend. */
export function bentNight(team: StagedTeam, { clock = '2026-11-22T03:17:00Z', ...bent }: Bent = {}): Promise<Ended> {
  const { clone = team.clone(), wishes = { all: true, now: true, since: 0 }, patience = {} } = bent;
  const play = async (world: Parameters<Parameters<typeof ranHere>[1]>[0]) => {
    const repository = await openRepository(clone, { env: world.env });
    const config = await loadConfig(repository);
    const { redact } = createRedactor(world.env);
    const none = openRollouts([], { include: [], checkouts: checkoutsFrom({}), home: '/nowhere' });
    const opened = await openTeam('pull-request', config, repository, world);
    const ports: NightPorts = {
      ...createEngine(config, repository, world.env, redact, patience),
      repository,
      rollouts: bent.rollouts?.(none) ?? none,
      clock: world.clock,
      redact,
      progress: () => undefined,
    };
    const lease = { ...opened.lease, ports: { ...opened.lease.ports, wait: async () => undefined } };
    const ours = bent.team?.({ ...opened, lease }) ?? { ...opened, lease };
    const night = await runTeamNight(nightPolicy(config, wishes), ports, ours, world.signal);
    bent.told?.(night);
    world.log.result(night.outcome === 'held' ? 'held' : night.report.outcome);
    return 0;
  };
  const env = { CTM_CLOCK: '', ...clockOf(clock), TEAM_TOKEN: botToken, ...bent.env };
  return ranHere(nightlySpec, play, [], env);
}

function clockOf(clock: string): Record<string, string> {
  return clock.startsWith('/') ? { CTM_CLOCK_FILE: clock } : { CTM_CLOCK: clock };
}
