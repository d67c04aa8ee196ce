import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleForPage } from './connect/bundle.ts';
import { openRepository } from './git/open.ts';
import { trackingRef } from './git/remote-types.ts';
import type { Repository } from './git/types.ts';
import { lookOf } from './nightly/look.ts';
import { loadConfig, sourcesOf } from './nightly/settings.ts';
import { loadStart } from './nightly/start.ts';
import { writeReport } from './report/file.ts';
import { gather } from './report/gather.ts';
import { packWords } from './report/pack.ts';
import { pageOf, signature } from './report/page.ts';
import { type SessionWords, sessionWords } from './report/session-words.ts';
import { checkoutsOnDisk } from './rollout/checkouts.ts';
import { listingsHere } from './rollout/kept-here.ts';
import { redactedRollouts } from './rollout/redacted.ts';
import { openRollouts } from './rollout/source.ts';
import type { Config } from './shared/config-schema.ts';
import { type ExitCode, exitCodes } from './shared/errors.ts';
import { jsonText } from './shared/escape.ts';
import type { CommandSpec } from './shared/flags.ts';
import { main, type World } from './shared/main.ts';
import { createRedactor } from './shared/redact.ts';
import { statusOf } from './status/facts.ts';
import { usageOf } from './status/usage.ts';
import { warningsOf } from './status/warnings.ts';

const spec: CommandSpec = {
  name: 'report',
  purpose: 'The memory as one web page: what it knows and from whom, its nights, its use, what waits. Reads only.',
  flags: {
    repo: { kind: 'value', value: '<dir>', help: 'the repository that holds the memory (default: this one)' },
    out: { kind: 'value', value: '<file>', help: 'where the page goes (default: memory-report.html)' },
    source: {
      kind: 'list',
      value: '<agent>:<folder>',
      help: 'take the words of sessions from this folder where the rollouts ref has none',
    },
    json: { kind: 'switch', help: 'one JSON object on standard output instead of a page' },
  },
  positionals: [],
  examples: [
    'npm run report',
    'npm run report -- --repo ../team-memory --out public/index.html',
    'npm run report -- --json > memory.json',
  ],
};

const root = fileURLToPath(new URL('..', import.meta.url));
/** A page that no longer opens at once. */
const largeBytes = 3_000_000;

await main(spec, report);

async function report(world: World): Promise<ExitCode> {
  const { flags, env, clock, log, cwd } = world;
  const repository = await openRepository(flags.valueOf('repo') ?? cwd, { env });
  const config = await loadConfig(repository);
  const start = await loadStart(repository, 'look');
  const now = clock.now();
  const redactor = createRedactor(env);
  const status = statusOf({ ...lookOf(repository, config, start, flags), now });
  if (start.stateOid === null && status.runs.length === 0)
    log.warn('No night has run here, so the report is empty: npm run nightly.');
  const gathered = await gather(
    {
      branch: start.branch,
      stateOid: start.stateOid,
      state: start.state,
      memories: start.memories,
      usage: usageOf(start.state, start.memories, config.memory.max_unused_days, now),
      waiting: {
        known: status.sessions.known,
        unread: status.sessions.unread,
        failed: status.sessions.failed,
        scopes: status.scopes,
        month: status.month,
        warnings: warningsOf(status, 0, now),
      },
      words: await wordsFrom(world, repository, config),
      now,
    },
    redactor,
  );
  if (flags.isOn('json')) {
    log.result(jsonText(gathered));
    return exitCodes.done;
  }
  const page = pageOf(gathered, packWords(gathered.words), {
    script: await bundleForPage(root, 'scripts/report/page/main.ts'),
    style: await bundleForPage(root, 'scripts/report/page/style.css'),
  });
  const path = resolve(cwd, flags.valueOf('out') ?? 'memory-report.html');
  writeReport(path, page, signature);
  const bytes = Buffer.byteLength(page);
  if (bytes > largeBytes) log.warn(`The page has ${Math.round(bytes / 100_000) / 10} MB and will open slowly.`);
  log.result(`Wrote ${path} (${Math.ceil(bytes / 1_000)} KB). Open it in a browser; it loads nothing else.`);
  return exitCodes.done;
}

/** The rollouts ref first, as a night fetched it or as this clone has it; then the sources. */
async function wordsFrom(world: World, repository: Repository, config: Config): Promise<SessionWords> {
  const { flags, env, home, signal } = world;
  const { ref } = config.rollouts;
  const archived = (await repository.readRef(trackingRef(ref))) ?? (await repository.readRef(ref));
  const sources = sourcesOf(config, flags, home, env);
  const place = { include: config.include, checkouts: checkoutsOnDisk(), home };
  const local =
    sources.length === 0
      ? null
      : redactedRollouts(openRollouts(sources, place, listingsHere(world, 'look')), createRedactor(env));
  return sessionWords({ repository, archived, local }, signal);
}
