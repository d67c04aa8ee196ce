import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addRollouts } from '../../scripts/archive/add.ts';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { checkoutsFrom } from '../../scripts/rollout/checkouts.ts';
import { openRollouts } from '../../scripts/rollout/source.ts';
import { fixedClock } from '../../scripts/shared/clock.ts';
import { type CodexSession, codexText, firstCorrection } from './codex-session.ts';
import { type Ended, playedHere } from './nights.ts';
import { type Ending, env as gitEnv, temporaryFolder, writeFiles } from './repository.ts';
import { phase1Here } from './shards.ts';
import { dayAt } from './stored-rollouts.ts';
import { aTeamOnServers, botToken, readerToken, type TestTeam } from './team.ts';

export type StageName = 'claim' | 'remember' | 'propose';

export interface PlayedStage extends Ended {
  /** What it told the later steps, as `name=value` lines. */
  readonly output: string;
  readonly clone: string;
}

export interface StageOptions {
  readonly at?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Done in the job's clone after the artifacts have come and before the stage. */
  before?(clone: string): void;
}

/** One run of the workflow: each job in a clone of its own, the artifacts carried from one to the next. */
export interface TestRun {
  readonly id: string;
  /** The artifacts: `night/start.json` and the others. */
  readonly artifacts: string;
  stage(name: StageName, options?: StageOptions): Promise<PlayedStage>;
  /** One of the jobs that read, such as `2/3`. */
  shard(text: string, options?: StageOptions): Promise<PlayedStage>;
  /** All three, each has to end well. @returns propose. */
  all(options?: StageOptions): Promise<PlayedStage>;
}

export interface StagedTeam extends TestTeam {
  /** Puts sessions on the team's ref. */
  collect(...sessions: readonly CodexSession[]): Promise<void>;
  /** Begins another run of the workflow. */
  run(at: string): TestRun;
}

/** @param model what stands as `model` in the configuration. */
export async function aStagedTeam(t: Ending, config = '', model?: string): Promise<StagedTeam> {
  const team = await aTeamOnServers(t, config, model);
  let runs = 0;
  return {
    ...team,
    collect: (...sessions) => collectInto(t, team.dir, ...sessions),
    run: (at) => {
      runs += 1;
      const id = String(4_710 + runs);
      team.forge.settings.runs[id] = { attempts: { '1': 'in_progress' } };
      return aRun(t, team, id, at);
    },
  };
}

/** Puts sessions on the ref of a bare repository, as laptops of the team do. */
export async function collectInto(t: Ending, dir: string, ...sessions: readonly CodexSession[]): Promise<void> {
  const folder = temporaryFolder(t);
  writeFiles(folder, Object.fromEntries(sessions.map((one) => [`rollout-${one.id}.jsonl`, codexText(one)])));
  const place = { include: [], checkouts: checkoutsFrom({}), home: '/home/dana' };
  const rollouts = openRollouts([{ agent: 'codex', path: folder }], place);
  const { found } = await rollouts.list();
  const read = [];
  for (const { thread } of found) read.push(await rollouts.read(thread.id));
  const repository = await openRepository(dir, { env: gitEnv });
  await addRollouts({ repository, ref: archiveRef, remote: null }, read, 0, { clock: fixedClock(dayAt(2)) });
}

function aRun(t: Ending, team: TestTeam, id: string, start: string): TestRun {
  const artifacts = temporaryFolder(t);
  const job = (name: StageName | 'read', before: StageOptions['before'] = () => {}) => {
    const clone = team.clone();
    const memory = join(clone, '.git/memory');
    mkdirSync(memory, { recursive: true });
    if (name !== 'claim') cpSync(artifacts, memory, { recursive: true });
    if (name === 'propose') rmSync(join(memory, 'journal'), { recursive: true, force: true });
    if (name !== 'remember') rmSync(join(memory, 'shards'), { recursive: true, force: true });
    before(clone);
    return { clone, memory };
  };
  const envOf = (at: string, token: string) => ({
    CTM_CLOCK: at,
    TEAM_TOKEN: token,
    GITHUB_RUN_ID: id,
    GITHUB_RUN_ATTEMPT: '1',
  });
  const stage: TestRun['stage'] = async (name, { at = start, args = [], env = {}, before } = {}) => {
    const { clone, memory } = job(name, before);
    const output = join(temporaryFolder(t), 'github-output');
    writeFileSync(output, '');
    const wishes = name === 'claim' ? ['--now', '--since', 'all'] : [];
    const ended = await playedHere(['--repo', clone, '--stage', name, ...wishes, ...args], {
      ...envOf(at, name === 'remember' ? readerToken : botToken),
      GITHUB_OUTPUT: output,
      ...env,
    });
    for (const folder of ['night', 'journal']) {
      if (existsSync(join(memory, folder)))
        cpSync(join(memory, folder), join(artifacts, folder), { recursive: true, dereference: true });
    }
    return { ...ended, output: readFileSync(output, 'utf8'), clone };
  };
  return {
    id,
    artifacts,
    stage,
    shard: async (text, { at = start, args = [], env = {}, before } = {}) => {
      const { clone, memory } = job('read', before);
      const journal = join(memory, 'shard');
      const call = ['--repo', clone, '--claimed', '--shard', text, '--journal', journal, ...args];
      const ended = await phase1Here(call, { ...envOf(at, readerToken), ...env });
      const target = join(artifacts, 'shards', `shard-${text.replace(/\/.*/, '')}`);
      if (existsSync(journal)) cpSync(journal, target, { recursive: true });
      return { ...ended, output: '', clone };
    },
    all: async (options = {}) => {
      for (const name of ['claim', 'remember'] as const) mustEndWell(name, await stage(name, options));
      return mustEndWell('propose', await stage('propose', options));
    },
  };
}

function mustEndWell(name: StageName, played: PlayedStage): PlayedStage {
  if (played.code === 0) return played;
  throw new Error(`${name} ended with ${played.code}: ${played.stdout}${played.stderr}`);
}

/** A team of which one session has been collected. */
export async function withOneSession(t: Ending): Promise<StagedTeam> {
  const team = await aStagedTeam(t);
  await team.collect(firstCorrection);
  return team;
}

/** What the state's ref says of the night under way. */
export function nightRecord(team: TestTeam): { startedRun: { runId: string; threads: string[] } | null } {
  return JSON.parse(team.file('refs/memory/state', 'night.json'));
}
