import { test } from 'node:test';
import { aGitServer } from '../support/git-server.ts';
import { aTeam } from '../support/laptops.ts';
import { race } from '../support/races.ts';
import { git } from '../support/repository.ts';

/** `CTM_ROUNDS=20` is the whole of it: some minutes on two cores. */
const rounds = Number(process.env.CTM_ROUNDS ?? 4);

test(`eight laptops collect to one ref at once, ${rounds} rounds, while retention writes it anew`, async (t) => {
  const server = await aGitServer(t, { tokens: {}, anonymous: 'write' });
  const team = server.create('team');
  git(team, 'fetch', '--quiet', aTeam(t), '+refs/heads/*:refs/heads/*');
  await race(t, team, server.url('team'), 8, rounds);
});
