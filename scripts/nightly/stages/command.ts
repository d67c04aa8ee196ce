import { withLock } from '../../git/lock.ts';
import type { Repository } from '../../git/types.ts';
import type { Config } from '../../shared/config-schema.ts';
import { type ExitCode, UsageError } from '../../shared/errors.ts';
import type { World } from '../../shared/main.ts';
import { quiet } from '../tell.ts';
import { claim } from './claim.ts';
import { proposeNight } from './propose.ts';
import { remember } from './remember.ts';
import type { Stage } from './stage.ts';

export type StageName = 'claim' | 'remember' | 'propose';

export function isStage(name: string | undefined): name is StageName {
  return name === 'claim' || name === 'remember' || name === 'propose';
}

interface Called {
  readonly config: Config;
  readonly repository: Repository;
  readonly world: World;
  /** As the command line and the configuration say. */
  readonly delivery: Config['delivery']['mode'];
}

/**
 * One part of a night, in a process or a job of its own. What the parts tell each other lies below `.git/memory/`.
 * @source design §4, "Stages"
 */
export async function playStage(name: StageName, { delivery, config, repository, world }: Called): Promise<ExitCode> {
  const mode = name === 'claim' ? delivery : config.delivery.mode;
  if (mode === 'commit') {
    return quiet(
      world,
      'Nothing to do: a night in stages delivers to a team. Set delivery.mode in .github/memory.yml.',
    );
  }
  refuseWishes(name, world);
  const stage: Stage = { repository, config, delivery: mode, world };
  const owner = { ...world.self, at: world.clock.now(), note: `nightly --stage ${name}` };
  return withLock(`${repository.commonDir}/memory/night.lock`, owner, () => stages[name](stage));
}

const stages = { claim, remember, propose: proposeNight } as const;

/** What a person asks for is told to claim, which tells the others; what shards left stands where the workflow puts it. */
function refuseWishes(name: StageName, { flags }: World): void {
  const isClaim = name === 'claim';
  const toClaim = ['model', 'delivery', 'since', 'shards', 'now', 'dry-run', 'source'];
  const [first] = [...(isClaim ? [] : toClaim), 'journal'].filter(
    (flag) => flags.isOn(flag) || flags.listOf(flag).length > 0,
  );
  if (first === undefined) return;
  throw new UsageError(
    `--stage ${name} takes no --${first}.`,
    first === 'journal'
      ? 'Put what the shards left below .git/memory/shards/, or play the night in one process: npm run nightly -- --journal <dir>.'
      : 'Give it to --stage claim, which tells the other stages.',
  );
}
