import { addRollouts } from '../../scripts/archive/add.ts';
import { archiveRef } from '../../scripts/archive/layout.ts';
import type { Journal } from '../../scripts/model/journal.ts';
import { journalKey } from '../../scripts/model/journal.ts';
import { createJournaledModel } from '../../scripts/model/journaled.ts';
import { createLedger } from '../../scripts/model/ledger.ts';
import { createScriptedModel } from '../../scripts/model/scripted.ts';
import type { ModelReply } from '../../scripts/model/types.ts';
import { signatureOf } from '../../scripts/nightly/compose.ts';
import { nightPolicy } from '../../scripts/nightly/policy.ts';
import { runTeamNight, type TeamNight } from '../../scripts/nightly/team.ts';
import { createLlmExtractor } from '../../scripts/phase1/llm.ts';
import { createBuiltinConsolidator } from '../../scripts/phase2/builtin.ts';
import type { Consolidator } from '../../scripts/phase2/types.ts';
import type { Rollouts } from '../../scripts/rollout/source.ts';
import { day, fixedClock } from '../../scripts/shared/clock.ts';
import { parseConfig } from '../../scripts/shared/config.ts';
import type { Files, Oid } from '../../scripts/shared/files.ts';
import { sha256 } from '../../scripts/shared/thread-id.ts';
import { handbookPath } from '../../scripts/workspace/layout.ts';
import { aForge, type MemoryForge } from './memory-forge.ts';
import { aClone, type MemoryClone, type MemoryServer, noObjects, onServer, type Watch } from './memory-git.ts';
import { extractionOf } from './scripted-extractor.ts';
import { aRollout, dayAt } from './stored-rollouts.ts';

export const mainRef = 'refs/heads/main';
export const branchRef = 'refs/heads/memory/nightly';
export const stateRef = 'refs/memory/state';
export const repositories = ['git.example.test/acme/shop', 'git.example.test/acme/api'] as const;

/** A team in memory: its server and host, two machines that stay, and the clock. */
export interface World {
  readonly server: MemoryServer;
  readonly forge: MemoryForge;
  readonly machines: MemoryClone[];
  readonly journal: Journal;
  /** Request → how often it was paid for. */
  readonly paid: Map<string, number>;
  now: number;
  sessions: number;
  nights: number;
}

/** What happens to a night at its n-th look at the server or host, from 1. */
export interface Accident {
  readonly at: number;
  readonly kind: 'dies before' | 'dies after' | 'people';
}

/** The process is gone, in the middle of something. */
export class Died extends Error {}

export async function aWorld(): Promise<World> {
  const server: MemoryServer = { objects: noObjects(), refs: new Map() };
  const first = await onServer(server).writeCommit({
    base: null,
    parents: [],
    changes: new Map([['README.md', 'The team’s memory.\n']]),
    message: 'Start',
    author: person,
    at: dayAt(0),
  });
  server.refs.set(mainRef, first);
  return {
    server,
    forge: aForge((branch) => server.refs.get(`refs/heads/${branch}`) ?? null),
    machines: [aClone(server, 'one'), aClone(server, 'two')],
    journal: aJournal(),
    paid: new Map(),
    now: dayAt(0),
    sessions: 0,
    nights: 0,
  };
}

export const person = { name: 'A Person', email: 'person@example.org' };

/** A laptop sends a session in which a person says these words. */
export async function collect(world: World, words: string, repo: string): Promise<void> {
  world.sessions += 1;
  const laptop = aClone(world.server, 'laptop');
  const archive = { repository: laptop.repository, ref: archiveRef, remote: laptop.remote() };
  const rollout = aRollout(world.sessions, [`Work on part ${world.sessions}`, 'I did it.', words, 'Done.'], {
    repo,
    startedAt: world.now - 3_600,
  });
  await addRollouts(archive, [rollout], 0, { clock: fixedClock(world.now) });
}

/** Plays a night in a clone. @throws Died, and whatever ends a night. */
export async function playNight(
  world: World,
  { repository, remote }: MemoryClone,
  accident: Accident | null,
  people: () => Promise<void>,
  isRestless: boolean,
): Promise<TeamNight> {
  world.nights += 1;
  const config = parseConfig(
    'version: 1\ninclude: [git.example.test/acme/*]\nmodel: { provider: openai, extract_model: m, consolidation_model: m }\ndelivery: { mode: pull-request }\n',
  );
  const watch = watchFor(accident, people);
  const shared = remote(watch);
  const clock = fixedClock(world.now);
  const ledger = createLedger();
  const scripted = createScriptedModel((request) => {
    const key = journalKey(request);
    world.paid.set(key, (world.paid.get(key) ?? 0) + 1);
    return JSON.stringify(extractionOf({ texts: request.messages.map(({ text }) => text) }));
  });
  const model = createJournaledModel(scripted, world.journal, ledger);
  const redact = (text: string) => text;
  const fallback = createBuiltinConsolidator();
  const extractor = createLlmExtractor({
    model,
    audience: 'team',
    language: config.language,
    redact,
    modelName: 'm',
    contextWindow: null,
    maxOutputTokens: 8_000,
    reject: model.reject,
  });
  const ports = {
    repository,
    rollouts: nothingHere,
    extractor,
    consolidator: isRestless ? restless(fallback) : fallback,
    fallback,
    journal: world.journal,
    ledger,
    clock,
    models: 'm',
    redact,
    progress: () => undefined,
    goesOn: () => true,
  };
  const terms = {
    worker: 'a machine',
    token: `night ${world.nights}`,
    run: null,
    leaseSeconds: 3_600,
    watchSeconds: 200,
    author: signatureOf(config),
  };
  return runTeamNight(nightPolicy(config, { all: false, now: true, since: null }), ports, {
    config,
    delivery: 'pull-request',
    remote: shared,
    forge: world.forge.seen(watch),
    archive: { repository, ref: archiveRef, remote: shared },
    lease: {
      terms,
      ports: { repository, remote: shared, clock, wait: async () => undefined, hasEnded: async () => null },
    },
    every: () => () => undefined,
    warn: () => undefined,
  });
}

/** The files of a commit; none where there is none. */
export function filesAt({ server }: World, commit: Oid | null | undefined): Files {
  return (commit && server.objects.commits.get(commit)?.files) || new Map();
}

export function later(world: World, days: number): void {
  world.now += days * day;
}

function watchFor(accident: Accident | null, people: () => Promise<void>): Watch {
  let looks = 0;
  let isDead = false;
  return async (_what, when) => {
    if (isDead) throw new Died('the process is gone');
    if (when === 'before') looks += 1;
    if (accident === null || looks !== accident.at) return;
    if (accident.kind === 'people') {
      if (when === 'before') await people();
      return;
    }
    if (accident.kind !== `dies ${when}`) return;
    isDead = true;
    throw new Died('the process is gone');
  };
}

const nothingHere: Rollouts = {
  list: async () => ({ found: [], ignored: [] }),
  read: () => Promise.reject(new Error('there are none')),
  cleaned: () => nothingHere,
};

/** One for all machines, as where it is handed from job to job. */
function aJournal(): Journal {
  const answers = new Map<string, ModelReply>();
  return {
    inherited: [],
    offered: new Map(),
    problems: [],
    find: (key) => answers.get(key) ?? null,
    put: async (key, _request, reply) => {
      answers.set(key, reply);
      return reply;
    },
    reject: async (key) => {
      answers.delete(key);
    },
    begin: () => undefined,
    end: () => undefined,
    diedAttempts: () => new Map(),
    tell: () => undefined,
    toldBy: () => [],
    submissions: { list: () => [], note: async () => {}, drop: () => undefined },
    clear: () => answers.clear(),
  };
}

/** An agent that rewords what it wrote itself, now this line, now that: never a person's. */
function restless(sound: Consolidator): Consolidator {
  return {
    class: 'llm',
    promptHash: 'restless',
    consolidate: async (task, signal) => {
      const proposal = await sound.consolidate(task, signal);
      const text = proposal.files.get(handbookPath);
      if (text === undefined) return proposal;
      const reworded = text
        .split('\n')
        .map((line) => (/^- .*\[[a-z2-7]{8}@/.test(line) && !task.isPersons(line) ? reword(line, text) : line))
        .join('\n');
      return { ...proposal, files: new Map([...proposal.files, [handbookPath, reworded]]) };
    },
  };
}

function reword(line: string, text: string): string {
  if (parseInt(sha256(`${line}${text}`).slice(0, 2), 16) > 80) return line;
  return line.startsWith('- as said, ') ? line.replace('- as said, ', '- ') : line.replace('- ', '- as said, ');
}
