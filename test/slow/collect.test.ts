import { test } from 'node:test';
import { aGitServer } from '../support/git-server.ts';
import { aTeam } from '../support/laptops.ts';
import { race } from '../support/races.ts';
import { git } from '../support/repository.ts';

test('eight laptops collect to one ref at once, 20 rounds, while retention writes it anew', async (t) => {
  const server = await aGitServer(t, { tokens: {}, anonymous: 'write' });
  const team = server.create('team');
  git(team, 'fetch', '--quiet', aTeam(t), '+refs/heads/*:refs/heads/*');
  await race(t, team, server.url('team'), 8, 20);
});
