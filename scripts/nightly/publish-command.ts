import { withLock } from '../git/lock.ts';
import { openRepository } from '../git/open.ts';
import { type ExitCode, exitCodes } from '../shared/errors.ts';
import { jsonText, terminalText } from '../shared/escape.ts';
import type { CommandSpec } from '../shared/flags.ts';
import type { World } from '../shared/main.ts';
import { signatureOf } from './compose.ts';
import { type Published, publishLeft } from './publish.ts';
import { loadConfig } from './settings.ts';
import { openTeam } from './team-command.ts';

export const publishSpec: CommandSpec = {
  name: 'publish',
  purpose: 'Finishes what a night left: a push that was begun, and the pull request for what the branch holds.',
  flags: {
    repo: { kind: 'value', value: '<dir>', help: 'the repository that holds the memory (default: this one)' },
    json: { kind: 'switch', help: 'one JSON object on standard output' },
  },
  positionals: [],
  examples: ['npm run publish'],
};

export async function publishCommand(world: World): Promise<ExitCode> {
  const { flags, env, log, clock, signal } = world;
  const repository = await openRepository(flags.valueOf('repo') ?? world.cwd, { env });
  const config = await loadConfig(repository);
  const { mode } = config.delivery;
  const owner = { ...world.self, at: clock.now(), note: 'publish' };
  const published: Published =
    mode === 'commit'
      ? { outcome: 'nothing', why: 'delivery.mode in .github/memory.yml is commit' }
      : await withLock(`${repository.commonDir}/memory/night.lock`, owner, async () => {
          const team = await openTeam(mode, config, repository, world);
          return publishLeft(team, { repository, clock, author: signatureOf(config) }, signal);
        });
  log.result(flags.isOn('json') ? jsonText(jsonOf(published)) : textOf(published));
  return exitCodes.done;
}

function textOf(published: Published): string {
  switch (published.outcome) {
    case 'held':
      return `Nothing to do: a night is at work (${terminalText(published.by.worker)}).`;
    case 'nothing':
      return `Nothing to do: ${published.why}.`;
    case 'published': {
      const { finished, pullRequest } = published;
      return [
        ...(finished === null ? [] : [`pushed        ${terminalText(finished.ref)} → ${finished.tip.slice(0, 12)}`]),
        ...(pullRequest === null ? [] : [`pull request  ${pullRequest.number}  ${terminalText(pullRequest.url)}`]),
      ].join('\n');
    }
  }
}

function jsonOf(published: Published): Record<string, unknown> {
  if (published.outcome !== 'published') {
    return published.outcome === 'held'
      ? { outcome: 'held', by: published.by.worker }
      : { outcome: 'quiet', why: published.why };
  }
  const { finished, pullRequest } = published;
  return {
    outcome: 'published',
    pushed: finished && { run_id: finished.runId, ref: finished.ref, tip: finished.tip },
    pull_request: pullRequest && { number: pullRequest.number, url: pullRequest.url },
  };
}
