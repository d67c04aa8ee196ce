import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { actionsRunsOf } from '../../scripts/publish/forge-of.ts';
import { startForgeServer } from '../support/forge-server.ts';
import type { ForgeRun, ForgeServer } from '../support/forge-types.ts';

const token = ['ghs', 'runs', 'reader'].join('_');

async function aHost(t: TestContext, runs: Readonly<Record<string, ForgeRun>>) {
  const forge: ForgeServer = await startForgeServer({ tokens: { [token]: { login: 'bot', kind: 'user' } }, runs });
  t.after(() => forge.close());
  const delivery = { api_url: forge.githubApi, token_env: 'TOKEN' };
  const asked = actionsRunsOf({ remoteUrl: 'https://git.example.test/acme/memory.git', delivery, token });
  return { forge, runs: asked ?? assert.fail('GitHub can be asked') };
}

test('the nightly workflow on the default branch of the repository itself is believed, and nothing else', async (t) => {
  const attempts = { '1': 'completed' } as const;
  const { runs } = await aHost(t, {
    '1': { attempts },
    '2': { attempts, event: 'workflow_dispatch' },
    '3': { attempts, path: '.github/workflows/nightly.yml@main' },
    '4': { attempts, path: '.github/workflows/check.yml' },
    '5': { attempts, branch: 'memory/nightly' },
    '6': { attempts, headRepository: 900 },
    '7': { attempts, event: 'pull_request' },
  });
  const believed = [];
  for (const id of ['1', '2', '3', '4', '5', '6', '7', '8', 'x', '1/../2', '']) {
    if (await runs.isNightly(id)) believed.push(id);
  }
  assert.deepEqual(believed, ['1', '2', '3']);
});

test('an attempt has ended when the host says so; whoever cannot be asked says nothing', async (t) => {
  const { runs, forge } = await aHost(t, {
    '1': { attempts: { '1': 'completed', '2': 'in_progress', '3': 'queued' } },
  });
  const said = [];
  for (const run of ['1/1', '1/2', '1/3', '1/4', '2/1', 'process 7', '1', '1/1/1']) said.push(await runs.hasEnded(run));
  assert.deepEqual(said, [true, false, false, null, null, null, null, null]);
  forge.settings.tokens[token] = { login: 'bot', kind: 'user', expired: true };
  assert.equal(await runs.hasEnded('1/1'), null);
  assert.equal(await runs.isNightly('1'), false);
});

test('hosts that are not GitHub, and nobody’s token, know no runs', () => {
  const remoteUrl = 'https://git.example.test/acme/memory.git';
  const gitlab = { api_url: 'https://git.example.test/api/v4', token_env: 'TOKEN' };
  assert.equal(actionsRunsOf({ remoteUrl, delivery: gitlab, token }), null);
  assert.equal(actionsRunsOf({ remoteUrl, delivery: { token_env: 'TOKEN' }, token }), null);
  const github = { api_url: 'https://git.example.test/api/v3', token_env: 'TOKEN' };
  assert.equal(actionsRunsOf({ remoteUrl, delivery: github, token: '' }), null);
});
