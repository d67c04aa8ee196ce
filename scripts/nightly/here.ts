import type { CarriedNote } from '../archive/note-file.ts';
import { spooledNotes } from '../archive/note-spool.ts';
import { archivedNotes } from '../archive/notes.ts';
import { destinationOf } from '../collect/destination.ts';
import { laptopOf } from '../collect/laptop.ts';
import { laptopOptOuts } from '../collect/opted-out.ts';
import type { Repository } from '../git/types.ts';
import { checkoutsOnDisk } from '../rollout/checkouts.ts';
import { listingsHere } from '../rollout/kept-here.ts';
import { redactedRollouts } from '../rollout/redacted.ts';
import { openRollouts, type Rollouts, type Source } from '../rollout/source.ts';
import type { Config } from '../shared/config-schema.ts';
import type { World } from '../shared/main.ts';
import { createRedactor, type Redactor } from '../shared/redact.ts';
import type { NightPolicy, Phases } from './night.ts';
import { nightPolicy } from './policy.ts';
import { agentFoldersHere, sourcesOf, wishesOf } from './settings.ts';

/** What this machine brings to a night. */
export interface Here {
  readonly sources: readonly Source[];
  readonly rollouts: Rollouts;
  /** What waits on this machine, and what stands on the repository's own ref. */
  notes(): Promise<readonly CarriedNote[]>;
  readonly policy: NightPolicy;
  readonly redactor: Redactor;
  redact(text: string): string;
}

/** As the command line, the configuration and this machine's own settings say. */
export async function nightHere(repository: Repository, config: Config, world: World, phases: Phases): Promise<Here> {
  const { flags, env, home } = world;
  const sources = phases.one ? sourcesFor(config, world) : [];
  const redactor = createRedactor(env);
  const redact = (text: string) => redactor.redact(text);
  const { isOptedOut, optOutWord } = await laptopOptOuts(laptopOf(env, home));
  const word = optOutWord === undefined ? {} : { optOutWord };
  const place = { include: config.include, checkouts: checkoutsOnDisk(), home, ...word };
  const asked = nightPolicy(config, wishesOf(flags), phases);
  return {
    sources,
    rollouts: redactedRollouts(
      openRollouts(sources, place, listingsHere(world, flags.isOn('dry-run') ? 'look' : 'keep')),
      redactor,
    ),
    notes: () => notesHere(repository, config, world, redact),
    policy: { ...asked, reading: { ...asked.reading, isOptedOut } },
    redactor,
    redact,
  };
}

async function notesHere(
  repository: Repository,
  config: Config,
  { env, home }: World,
  redact: (text: string) => string,
): Promise<readonly CarriedNote[]> {
  const { memory } = await destinationOf(repository, config.rollouts.remote);
  const spooled = await spooledNotes(laptopOf(env, home).state, memory, redact);
  const standing = await archivedNotes(repository, await repository.readRef(config.rollouts.ref));
  return [...standing.notes, ...spooled.notes.map(({ note, origin }) => ({ ...origin, ...note, author: null }))];
}

/** A dry run also looks where nothing is included yet: it shows the ids that may be. */
function sourcesFor(config: Config, { flags, home, env }: World): Source[] {
  const sources = sourcesOf(config, flags, home, env);
  return sources.length === 0 && flags.isOn('dry-run') ? agentFoldersHere(home, env) : sources;
}
