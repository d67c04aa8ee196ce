import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Contexts, filledIn, holds, plainValue, type Status } from './expressions.ts';
import type { Job, Step, Workflow } from './workflows.ts';

/** What started a run, as GitHub hands it to every step. */
export interface Trigger {
  /** `schedule`, `workflow_dispatch`, `pull_request`. */
  readonly event: string;
  /** The event's payload. */
  readonly payload: Readonly<Record<string, unknown>>;
  readonly ref: string;
  readonly sha: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, string>>;
  /** The repository's variables. */
  readonly vars?: Readonly<Record<string, string>>;
}

/** One `uses` step: its inputs filled in, and where it works. @returns its outputs; throws where the action fails. */
export type Action = (
  inputs: Readonly<Record<string, string>>,
  workspace: string,
) => Promise<Readonly<Record<string, string>> | undefined>;

export interface Runner {
  /** An empty folder: a workspace is made below it for every job. */
  readonly folder: string;
  /** By name without version, such as `actions/checkout`. */
  readonly actions: Readonly<Record<string, Action>>;
  /** Run instead of the commands that begin so, such as `npm ci`. */
  readonly instead: Readonly<Record<string, (workspace: string) => void>>;
  /** Added to what every step finds in its environment. */
  readonly env: Readonly<Record<string, string>>;
}

export interface StepResult {
  readonly step: Step;
  readonly outcome: 'success' | 'failure' | 'skipped';
  readonly stdout: string;
  readonly stderr: string;
  readonly outputs: Readonly<Record<string, string>>;
}

export interface JobResult {
  readonly result: Status | 'skipped';
  readonly outputs: Readonly<Record<string, string>>;
  readonly steps: readonly StepResult[];
  /** Markdown of all steps. */
  readonly summary: string;
  readonly workspace: string;
}

/**
 * Runs the jobs in their order, each in a workspace of its own, as far as their conditions hold. Of a job with a matrix
 * each part is in the results as `<id> (<value>)` too; the job itself ends well if all of them do.
 */
export async function playWorkflow(
  workflow: Workflow,
  trigger: Trigger,
  runner: Runner,
): Promise<Readonly<Record<string, JobResult>>> {
  const results: Record<string, JobResult> = {};
  for (const [id, job] of Object.entries(workflow.jobs)) {
    const needed = [job.needs ?? []].flat().map((name): [string, JobResult] => [name, mustHave(results, name)]);
    const needs = Object.fromEntries(needed.map(([name, { result, outputs }]) => [name, { result, outputs }]));
    const contexts = { ...contextsOf(workflow, trigger), needs };
    const status = needed.every(([, { result }]) => result === 'success') ? 'success' : 'failure';
    if (!holds(job.if, contexts, status))
      results[id] = { result: 'skipped', outputs: {}, steps: [], summary: '', workspace: '' };
    else if (job.strategy === undefined) results[id] = await playJob(id, job, contexts, runner, trigger);
    else {
      const parts = await playMatrix(id, job, contexts, runner, trigger);
      Object.assign(results, parts);
      results[id] = joined(Object.values(parts));
    }
  }
  return results;
}

/** Parts of one job, one after another; one that fails stops no other, as `fail-fast: false` has it. */
async function playMatrix(id: string, job: Job, contexts: Contexts, runner: Runner, trigger: Trigger) {
  const { matrix = {}, 'fail-fast': failFast } = job.strategy ?? {};
  if (failFast !== false) throw new Error('Only a matrix whose parts stop no other is played here.');
  const [[name, list] = ['', '']] = Object.entries(matrix);
  const values = plainValue(list, contexts);
  if (!Array.isArray(values) || values.length === 0) throw new Error(`The matrix of ${id} is no list.`);
  const results: Record<string, JobResult> = {};
  for (const [index, value] of values.entries()) {
    const strategy = { 'fail-fast': false, 'job-index': index, 'job-total': values.length };
    const part = `${id} (${value})`;
    results[part] = await playJob(part, job, { ...contexts, strategy, matrix: { [name]: value } }, runner, trigger);
  }
  return results;
}

function joined(parts: readonly JobResult[]): JobResult {
  const isSound = parts.every(({ result }) => result === 'success');
  return { result: isSound ? 'success' : 'failure', outputs: {}, steps: [], summary: '', workspace: '' };
}

function contextsOf(
  workflow: Workflow,
  { event, payload, ref, sha, inputs, secrets = {}, vars = {} }: Trigger,
): Contexts {
  const github = { event_name: event, event: payload, ref, ref_name: ref.replace(/^refs\/heads\//, ''), sha, token };
  const given = { github, inputs: inputs ?? {}, secrets, vars, runner: { os: 'Linux' } };
  const env = Object.entries(workflow.env ?? {}).map(([name, value]) => [name, filledIn(value, given)]);
  return { ...given, env: Object.fromEntries(env) };
}

/** The token of a run, which must turn up nowhere. */
export const token = ['ghs', 'simulated0token0of0a0run0000000000000000'].join('_');

async function playJob(id: string, job: Job, contexts: Contexts, runner: Runner, trigger: Trigger): Promise<JobResult> {
  const workspace = join(runner.folder, id, 'workspace');
  const files = join(runner.folder, id, 'files');
  for (const folder of [workspace, files]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(files, 'event.json'), JSON.stringify(trigger.payload));
  const steps: StepResult[] = [];
  const known: Record<string, { outputs: Readonly<Record<string, string>>; outcome: string }> = {};
  const left: Record<string, string> = {};
  let status: Status = 'success';
  let summary = '';
  for (const [index, step] of job.steps.entries()) {
    const now = { ...contexts, steps: known };
    if (!holds(step.if, now, status)) {
      steps.push({ step, outcome: 'skipped', stdout: '', stderr: '', outputs: {} });
      continue;
    }
    const given = { ...(contexts.env as Record<string, string>), ...job.env, ...left, ...step.env };
    const env = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, filledIn(`${value}`, now)]));
    const at = join(files, String(index));
    const environment = { ...runner.env, ...defaults(trigger, id, workspace, files, at), ...env };
    const ended = await playStep(step, { workspace, at, env: environment, contexts: now, runner });
    steps.push({ step, ...ended });
    Object.assign(left, pairsIn(`${at}.env`));
    summary += textAt(`${at}.summary`);
    if (step.id !== undefined) known[step.id] = { outputs: ended.outputs, outcome: ended.outcome };
    if (ended.outcome === 'failure' && step['continue-on-error'] !== true) status = 'failure';
  }
  const all = { ...contexts, steps: known };
  const outputs = Object.entries(job.outputs ?? {}).map(([name, value]) => [name, filledIn(value, all)]);
  return { result: status, outputs: Object.fromEntries(outputs), steps, summary, workspace };
}

interface Place {
  readonly workspace: string;
  /** Where the step's own files begin. */
  readonly at: string;
  readonly env: Readonly<Record<string, string>>;
  readonly contexts: Contexts;
  readonly runner: Runner;
}

async function playStep(step: Step, place: Place): Promise<Omit<StepResult, 'step'>> {
  const { workspace, at, env, contexts, runner } = place;
  const quiet = { stdout: '', stderr: '', outputs: {} };
  if (step.uses !== undefined) {
    const action = mustHave(runner.actions, step.uses.replace(/@.*$/, ''));
    const inputs = Object.entries(step.with ?? {}).map(([name, value]) => [name, filledIn(String(value), contexts)]);
    try {
      return { ...quiet, outcome: 'success', outputs: (await action(Object.fromEntries(inputs), workspace)) ?? {} };
    } catch (error) {
      return { ...quiet, outcome: 'failure', stderr: String(error) };
    }
  }
  const run = step.run ?? '';
  const instead = Object.entries(runner.instead).find(([start]) => run.startsWith(start))?.[1];
  if (instead !== undefined) {
    instead(workspace);
    return { ...quiet, outcome: 'success' };
  }
  for (const kind of ['output', 'env', 'summary', 'path']) writeFileSync(`${at}.${kind}`, '');
  writeFileSync(`${at}.sh`, run);
  const { code, stdout, stderr } = await bash(`${at}.sh`, workspace, env);
  return { outcome: code === 0 ? 'success' : 'failure', stdout, stderr, outputs: pairsIn(`${at}.output`) };
}

/** As `shell: bash` is started. */
function bash(script: string, cwd: string, env: Readonly<Record<string, string>>) {
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', script], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

function defaults({ event, ref, sha }: Trigger, job: string, workspace: string, files: string, at: string) {
  return {
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_EVENT_NAME: event,
    GITHUB_EVENT_PATH: join(files, 'event.json'),
    GITHUB_REF: ref,
    GITHUB_SHA: sha,
    GITHUB_JOB: job.replace(/ .*$/, ''),
    GITHUB_REPOSITORY: 'acme/memory',
    GITHUB_RUN_ID: '4711',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_WORKSPACE: workspace,
    GITHUB_OUTPUT: `${at}.output`,
    GITHUB_ENV: `${at}.env`,
    GITHUB_PATH: `${at}.path`,
    GITHUB_STEP_SUMMARY: `${at}.summary`,
    RUNNER_TEMP: files,
  };
}

/** `name=value` lines; the form for values of several lines is none that we write. */
function pairsIn(file: string): Record<string, string> {
  const lines = textAt(file).split('\n');
  return Object.fromEntries(
    lines.flatMap((line) => {
      const at = line.indexOf('=');
      return at < 1 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );
}

function textAt(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

function mustHave<T>(record: Readonly<Record<string, T>>, name: string): T {
  const found = record[name];
  if (found === undefined) throw new Error(`There is no ${name} here.`);
  return found;
}
