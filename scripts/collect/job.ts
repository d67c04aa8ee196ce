import type { Archive } from '../archive/archive.ts';
import { checkoutsOnDisk } from '../rollout/checkouts.ts';
import { agentFolders } from '../rollout/folders.ts';
import type { Source } from '../rollout/source.ts';
import { day } from '../shared/clock.ts';
import type { Config } from '../shared/config-schema.ts';
import { UsageError } from '../shared/errors.ts';
import type { World } from '../shared/main.ts';
import { createRedactor } from '../shared/redact.ts';
import { sha256 } from '../shared/thread-id.ts';
import { type Agreement, type Consent, parseConsent } from './consent.ts';
import type { SendPolicy } from './decide.ts';
import type { Exposure } from './host.ts';
import { type Laptop, laptopOf } from './laptop.ts';
import { readOwn } from './laptop-file.ts';
import { optedOutHere } from './opted-out.ts';

import type { CollectPorts } from './run.ts';
import { loadSeen, type SeenByPath, seenPath } from './seen.ts';

/** What the entry script found out about the repository that it was started for. */
export interface Setup {
  readonly config: Config;
  /** By this name the laptop allows it. */
  readonly memory: string;
  readonly archive: Archive;
  /** What sessions call their author. */
  author(consent: Consent): Promise<string>;
  /** Who can read what is sent. */
  exposure(): Promise<Exposure>;
}

/** Everything that one run works with. */
export interface Job {
  readonly world: World;
  readonly setup: Setup;
  readonly laptop: Laptop;
  readonly agreement: Agreement;
  readonly roots: readonly Source[];
  readonly policy: SendPolicy;
  readonly seenPath: string;
  /** A hash of what decides who is sent. */
  readonly rules: string;
  readonly ports: Omit<CollectPorts, 'send' | 'settled'>;
}

/** @throws UsageError where this laptop allows nothing for the repository. */
export async function jobFor(world: World, setup: Setup): Promise<Job> {
  const { env, home, clock, log } = world;
  const { config, memory, archive } = setup;
  const laptop = laptopOf(env, home);
  const text = await readOwn(laptop.consent);
  const consent = text === null ? null : parseConsent(text, laptop.consent);
  const agreement = consent?.agreements.find((entry) => entry.memory === memory);
  if (consent === null || agreement === undefined)
    throw new UsageError(
      `This laptop has not agreed to send anything to ${memory}.`,
      'Say what may be sent: npm run collect -- --init',
    );
  const isOptedOut = await optedOutHere(consent, laptop);
  const decides = [config.include, config.exclude, config.exclude_origins, config.rollouts.retention_days];
  return {
    world,
    setup,
    laptop,
    agreement,
    roots: agentFolders(env, home),
    policy: {
      include: config.include,
      exclude: config.exclude,
      excludeOrigins: config.exclude_origins,
      consented: agreement.include,
      isOptedOut,
      notBefore: clock.now() - config.rollouts.retention_days * day,
    },
    seenPath: seenPath(laptop.state, memory, archive.ref),
    rules: sha256(
      JSON.stringify([...decides, agreement.include, consent.optOut, consent.optOutWord, isOptedOut.paths]),
    ),
    ports: {
      checkouts: checkoutsOnDisk(),
      home,
      ...(consent.optOutWord === undefined ? {} : { optOutWord: consent.optOutWord }),
      redactor: createRedactor(env),
      author: await setup.author(consent),
      progress: log.progress,
    },
  };
}

/** What was seen before; with `anew` every session is read once more, and what it repeats is still known. */
export async function knownTo(job: Job, anew: boolean): Promise<SeenByPath> {
  const seen = await loadSeen(job.seenPath, job.rules);
  if (!anew) return seen;
  return new Map([...seen].map(([path, row]) => [path, { ...row, fingerprint: '', isSettled: false }]));
}
