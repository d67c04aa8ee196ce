import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRepository } from './git/create.ts';
import type { Repository } from './git/types.ts';
import { createEngine } from './nightly/compose.ts';
import type { NightReport } from './nightly/night.ts';
import { nightPolicy } from './nightly/policy.ts';
import { nightJson, nightText } from './nightly/report.ts';
import { runNight } from './nightly/run.ts';
import { type Checkouts, checkoutsFrom } from './rollout/checkouts.ts';
import { redactedRollouts } from './rollout/redacted.ts';
import { openRollouts } from './rollout/source.ts';
import { fixedClock, parseIsoTime } from './shared/clock.ts';
import { parseConfig } from './shared/config.ts';
import { type ExitCode, exitCodes } from './shared/errors.ts';
import { terminalText } from './shared/escape.ts';
import type { Files } from './shared/files.ts';
import type { CommandSpec } from './shared/flags.ts';
import { main, type World } from './shared/main.ts';
import { createRedactor } from './shared/redact.ts';
import { parseHandbook, scopeOf } from './workspace/handbook.ts';
import { handbookPath, stemOf } from './workspace/layout.ts';

const spec: CommandSpec = {
  name: 'start',
  purpose: 'Plays one real night over the bundled sample sessions in a scratch repository: no key, no network.',
  flags: {
    repo: {
      kind: 'value',
      value: '<dir>',
      help: 'where to make the scratch repository (default: a new temporary folder)',
    },
    json: { kind: 'switch', help: 'one JSON object on standard output' },
  },
  positionals: [],
  examples: ['npm start', 'npm start -- --repo /tmp/first-night'],
};

/** The samples were recorded in the days before; with a fixed clock they never become too old. */
const theNight = parseIsoTime('2026-12-01T03:17:00Z') ?? 0;
const samples = fileURLToPath(new URL('../test/fixtures/rollouts/', import.meta.url));

/** Whose memory is shown. */
const exampleScope = 'git.example.test/acme/etl-job';

await main(spec, start);

async function start(world: World): Promise<ExitCode> {
  const { flags, log } = world;
  const folder = flags.valueOf('repo') ?? (await mkdtemp(join(tmpdir(), 'commit-to-memory-')));
  const repository = await createRepository(folder, { branch: 'main', env: world.env });
  const { report, text, json } = await play(repository, world);
  if (flags.isOn('json')) {
    log.result(JSON.stringify({ folder, ...json }));
    return exitCodes.done;
  }
  log.result(await tour(folder, repository, report, text));
  return exitCodes.done;
}

async function play(repository: Repository, world: World) {
  const config = parseConfig(null);
  const clock = fixedClock(theNight);
  const redactor = createRedactor(world.env);
  const redact = (text: string) => redactor.redact(text);
  const agents = ['codex', 'claude-code'] as const;
  const sources = [
    ...agents.map((agent) => ({ agent, path: join(samples, agent) })),
    { agent: 'claude-code' as const, path: join(samples, 'claude-code-real') },
  ];
  const rollouts = openRollouts(sources, { include: [], checkouts: await sampleCheckouts(), home: '/home/dana' });
  const policy = nightPolicy(config, { all: true, now: false, since: 0 });
  const engine = createEngine(config, repository, world.env, redact);
  const report = await runNight(
    policy,
    {
      ...engine,
      repository,
      rollouts: redactedRollouts(rollouts, redactor),
      clock,
      redact,
      progress: world.log.progress,
    },
    world.signal,
  );
  return { report, text: nightText(report, engine.ledger), json: nightJson(report, engine.ledger) };
}

/** Where the recorded sessions' folders were checked out from. */
async function sampleCheckouts(): Promise<Checkouts> {
  return checkoutsFrom(JSON.parse(await readFile(join(samples, 'checkouts.json'), 'utf8')));
}

/** What a newcomer wants to see: what happened, what was made, one memory with its evidence, what to do next. */
async function tour(folder: string, repository: Repository, report: NightReport, text: string): Promise<string> {
  const { tip } = report.commits;
  const files = tip === null ? new Map<string, string>() : await repository.readFiles(tip, ['memories']);
  const sizes = [...files].map(
    ([path, content]) => `  ${String(content.split('\n').length).padStart(5)} lines  ${path}`,
  );
  const summaries = sizes.filter((line) => line.includes('rollout_summaries/'));
  const others = sizes.filter((line) => !line.includes('rollout_summaries/'));
  const commits = tip === null ? [] : await repository.history(tip, 2);
  return [
    'One night over the bundled sample sessions of Codex and Claude Code, without a key and without a network.',
    '',
    text,
    '',
    'What it committed',
    ...commits.map(({ oid, message }) => `  ${oid.slice(0, 12)}  ${message.split('\n')[0]}`),
    '',
    'What it made',
    ...others,
    `  ${summaries.length} files         memories/rollout_summaries/`,
    '',
    'One memory, each line with its evidence: [thread @ items of its session]',
    ...indent(exampleBlock(files.get(handbookPath) ?? '')),
    '',
    'The same words in their session (rollout_summaries keeps the way back)',
    ...indent(exampleSummary(files)),
    '',
    'Look around',
    `  git -C ${folder} log --stat`,
    `  less ${join(folder, 'memories/MEMORY.md')}`,
    `  npm run status -- --repo ${folder}`,
    `  npm run check -- --repo ${folder}`,
    `  npm run sql -- --repo ${folder} "select thread_id, title from threads limit 5"`,
    '',
    'Your own sessions: list your repositories as include in .github/memory.yml, then npm run nightly -- --dry-run',
  ].join('\n');
}

function exampleBlock(handbook: string): string[] {
  const block = parseHandbook(handbook).blocks.find((candidate) => scopeOf(candidate) === exampleScope);
  return (block?.raw ?? '').trimEnd().split('\n');
}

function exampleSummary(files: Files): string[] {
  const summary = [...files].find(([path, text]) => stemOf(path) !== null && text.includes(`repo: ${exampleScope}`));
  return (summary?.[1] ?? '').trimEnd().split('\n');
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => (line === '' ? '' : `  ${terminalText(line)}`));
}
