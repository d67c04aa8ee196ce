import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { CarriedNote } from '../../scripts/archive/note-file.ts';
import { openRepository } from '../../scripts/git/open.ts';
import type { Repository } from '../../scripts/git/types.ts';
import { createEngine, type Engine, type Patience } from '../../scripts/nightly/compose.ts';
import type { NightPorts, NightReport } from '../../scripts/nightly/night.ts';
import { nightPolicy, type Wishes } from '../../scripts/nightly/policy.ts';
import { runNight } from '../../scripts/nightly/run.ts';
import { checkoutsFrom } from '../../scripts/rollout/checkouts.ts';
import { redactedRollouts } from '../../scripts/rollout/redacted.ts';
import { openRollouts } from '../../scripts/rollout/source.ts';
import { fixedClock, parseIsoTime } from '../../scripts/shared/clock.ts';
import { parseConfig } from '../../scripts/shared/config.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { type ApiServer, startApiServer } from './api-server.ts';
import type { Behaviour, RecordedRequest } from './api-types.ts';
import type { BatchApi } from './batch-api.ts';
import { aRepository, env, git, temporaryFolder } from './repository.ts';
import { agentAnswer } from './scripted-agent.ts';
import { extractionAnswer, isExtraction } from './scripted-extractor.ts';
import { type WrittenSession, writeSessions } from './written-sessions.ts';

export const shop = 'git.example.test/acme/shop';
export const api = 'git.example.test/acme/api';

/** The folders of the tests' two repositories, as sessions name them. */
export const cwdOf = { [shop]: '/home/dana/src/shop', [api]: '/home/dana/src/api' } as const;

export type Behave = (request: RecordedRequest, index: number) => Behaviour | Promise<Behaviour>;

/** A model that does its work in both phases. */
export const sound: Behave = (request) => (isExtraction(request) ? extractionAnswer(request) : agentAnswer(request));

export interface NightOptions {
  /** ISO time of the night. */
  readonly at: string;
  readonly behave?: Behave;
  /** YAML of the configuration, in place of or after the common lines. */
  readonly config?: string;
  readonly wishes?: Partial<Wishes>;
  readonly goesOn?: () => boolean;
  readonly usdPerMonth?: number;
  readonly patience?: Patience;
  readonly progress?: NightPorts['progress'];
  readonly signal?: AbortSignal;
  readonly notes?: readonly CarriedNote[];
}

export interface Played {
  readonly report: NightReport;
  readonly engine: Engine;
  /** What this night asked, in order of arrival. */
  readonly requests: readonly RecordedRequest[];
}

/** A memory repository, a folder of sessions and a model's server; nights are played one after another. */
export interface Nights {
  readonly dir: string;
  readonly sessions: string;
  readonly server: ApiServer;
  write(...sessions: readonly WrittenSession[]): void;
  play(options: NightOptions): Promise<Played>;
  /** A file of the branch's tip; '' where it is not. */
  file(path: string): string;
  tip(): string;
  git(...args: string[]): string;
}

/**
 * @param backend what reads and writes the repository: the quicker one, where a test is not about it.
 * @param batches the server's Batch API; without it there is none.
 */
export async function startNights(
  t: TestContext,
  backend: 'git' | 'isomorphic' = 'isomorphic',
  batches?: BatchApi,
): Promise<Nights> {
  const dir = aRepository(t, { 'README.md': 'The team’s memory.\n' });
  const sessions = join(temporaryFolder(t), 'sessions');
  let behave: Behave = sound;
  const server = await startApiServer({
    behave: (request, index) => behave(request, index),
    ...(batches === undefined ? {} : { batches }),
  });
  t.after(() => server.close());
  return {
    dir,
    sessions,
    server,
    write: (...written) => writeSessions(sessions, written),
    async play(options) {
      behave = options.behave ?? sound;
      const before = server.requests.length;
      const repository = await openRepository(dir, { env, backend });
      const played = await playNight(repository, sessions, server.baseUrl, options);
      return { ...played, requests: server.requests.slice(before) };
    },
    file: (path) => fileAt(dir, path),
    tip: () => git(dir, 'rev-parse', 'HEAD'),
    git: (...args) => git(dir, ...args),
  };
}

/** The configuration's lines that name the tests' server. */
export function configFor(baseUrl: string): string {
  return `model:\n  provider: openai\n  base_url: ${baseUrl}\n  wire: chat\n  extract_model: small\n  consolidation_model: large\n`;
}

async function playNight(repository: Repository, sessions: string, baseUrl: string, options: NightOptions) {
  const config = parseConfig(`${configFor(baseUrl)}${options.config ?? ''}`);
  const redactor = createRedactor(env);
  const redact = (text: string) => redactor.redact(text);
  const clock = fixedClock(parseIsoTime(options.at) ?? Number.NaN);
  const checkouts = checkoutsFrom(
    Object.fromEntries(
      Object.entries(cwdOf).map(([repo, cwd]) => [cwd, { remotes: [`https://${repo}.git`], rootCommit: null }]),
    ),
  );
  const source = { agent: 'codex' as const, path: sessions };
  const rollouts = redactedRollouts(openRollouts([source], { include: [], checkouts, home: '/home/dana' }), redactor);
  const patience = { wait: async () => {}, ...options.patience };
  const engine = createEngine(config, repository, env, redact, patience);
  const goesOn = () => engine.goesOn() && (options.goesOn?.() ?? true);
  const { usdPerMonth } = options;
  const policy = {
    ...nightPolicy(config, { all: true, now: false, since: null, ...options.wishes }),
    ...(usdPerMonth === undefined ? {} : { usdPerMonth }),
  };
  const notes = async () => options.notes ?? [];
  const ports = {
    ...engine,
    repository,
    rollouts,
    notes,
    clock,
    redact,
    goesOn,
    progress: options.progress ?? (() => {}),
  };
  return { report: await runNight(policy, ports, options.signal), engine };
}

function fileAt(dir: string, path: string): string {
  const listed = git(dir, 'ls-tree', '--name-only', 'HEAD', path);
  return listed === '' ? '' : `${git(dir, 'show', `HEAD:${path}`)}\n`;
}
