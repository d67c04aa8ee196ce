import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { aFix, uuid } from '../support/codex-session.ts';
import { startForgeServer } from '../support/forge-server.ts';
import { botToken } from '../support/forges.ts';
import { aGitServer } from '../support/git-server.ts';
import { aLaptop, app, appUrl, aTeam, everyObject, threadsIn } from '../support/laptops.ts';
import { git, temporaryFolder } from '../support/repository.ts';

test('a laptop agrees, looks, sends and exports; without a terminal and answers it agrees to nothing', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  laptop.codex(aFix(1, [], { remote: appUrl }));
  const consent = join(laptop.env.CTM_HOME ?? '', 'collect.yml');
  rmSync(consent);
  const repo = ['--repo', laptop.clone];

  const silent = await laptop.run(['--init', ...repo]);
  assert.equal(silent.code, 2);
  assert.match(silent.stderr, /no terminal to answer at.*\n.*--yes/);
  assert.equal((await laptop.run(['--init', '--yes', ...repo])).code, 2);
  assert.equal((await laptop.run(['--init', '--yes', '--include', 'app', ...repo])).code, 2);
  assert.ok(!existsSync(consent));

  const agreed = await laptop.run(['--init', '--yes', '--include', app, '--author', 'dana', ...repo]);
  assert.deepEqual([agreed.code, agreed.stderr], [0, '']);
  assert.match(agreed.stdout, new RegExp(`^Written: ${consent}\nSessions of ${app} may be sent to ${team}\\.\n`));
  assert.equal(statSync(consent).mode & 0o777, 0o600);

  const dry = await laptop.run(['--dry-run', '--json', ...repo]);
  const look = JSON.parse(dry.stdout) as { outcome: string; sessions: { thread: string; author: string }[] };
  assert.deepEqual(
    [look.outcome, look.sessions.map(({ thread, author }) => [thread, author])],
    ['dry_run', [[uuid(1), 'dana']]],
  );
  assert.equal((await laptop.run(repo)).stdout, 'Sent 1 session.\n');
  assert.deepEqual(threadsIn(team), [uuid(1)]);

  const out = join(laptop.home, 'atif');
  assert.equal((await laptop.run(['--export', 'atif', '--out', out, ...repo])).code, 0);
  assert.deepEqual(readdirSync(out), [`${uuid(1)}.json`]);
});

test('an address can be agreed to before there is a clone', async (t) => {
  const home = temporaryFolder(t);
  const laptop = aLaptop(t, aTeam(t));
  const env = { HOME: home, CTM_HOME: '', XDG_CONFIG_HOME: join(home, 'config') };
  const url = 'https://dana:word@git.example.test/acme/memory.git';
  const { code } = await laptop.run(['--init', '--yes', '--repo', url, '--include', app, '--private'], env);
  assert.equal(code, 0);
  const text = readFileSync(join(home, 'config/commit-to-memory/collect.yml'), 'utf8');
  assert.match(text, /- repo: "git\.example\.test\/acme\/memory"\n/);
  assert.match(text, /private: true/);
  assert.ok(!text.includes('word'));
});

test('the host is asked before anything leaves, and a token shows up nowhere', async (t) => {
  const forge = await startForgeServer({
    owner: 'acme',
    name: 'memory',
    visibility: 'public',
    tokens: { [botToken]: { login: 'dana', kind: 'user' } },
  });
  t.after(() => forge.close());
  const server = await aGitServer(t, { tokens: { [botToken]: { write: true } } });
  const team = server.create('acme/memory');
  const config = `version: 1\ninclude: [${app}]\nrollouts: { token_env: TEAM_TOKEN }\ndelivery: { api_url: ${forge.githubApi} }\n`;
  const laptop = aLaptop(t, aTeam(t, config));
  git(laptop.clone, 'remote', 'set-url', 'origin', server.url('acme/memory'));
  laptop.codex(aFix(1, [{ human: `My token is ${botToken}.` }], { remote: appUrl }));
  laptop.allow({ memory: '127.0.0.1/acme/memory' });
  const run = () => laptop.run(['--repo', laptop.clone], { TEAM_TOKEN: botToken });

  const refused = await run();
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /127\.0\.0\.1\/acme\/memory is public, so nothing was sent/);
  assert.deepEqual(threadsIn(team), []);
  assert.equal(server.requests.filter(({ url }) => url.includes('receive-pack')).length, 0);

  forge.settings.visibility = 'private';
  const sent = await run();
  assert.deepEqual([sent.code, sent.stdout], [0, 'Sent 1 session, without 1 secret.\n']);
  assert.deepEqual(threadsIn(team), [uuid(1)]);
  const state = readdirSync(join(laptop.env.CTM_HOME ?? '', 'state')).map((name) =>
    readFileSync(join(laptop.env.CTM_HOME ?? '', 'state', name), 'utf8'),
  );
  const all = [refused, sent].flatMap(({ stdout, stderr }) => [stdout, stderr]);
  assert.ok(![...all, ...state, everyObject(team), everyObject(laptop.clone)].join('\n').includes(botToken));

  laptop.codex(aFix(2, [], { remote: appUrl }));
  const without = await laptop.run(['--repo', laptop.clone]);
  assert.notEqual(without.code, 0);
  assert.deepEqual(threadsIn(team), [uuid(1)]);
});

test('two at once on one laptop: the second says so and is fine', async (t) => {
  const laptop = aLaptop(t, aTeam(t));
  const state = join(laptop.env.CTM_HOME ?? '', 'state');
  mkdirSync(state, { recursive: true });
  const holder = { host: 'here', pid: process.ppid, started: '2026-11-30T07:59:00Z', note: 'collect' };
  writeFileSync(join(state, 'collect.lock'), JSON.stringify(holder));
  const { code, stdout } = await laptop.collect();
  assert.equal(code, 0);
  assert.match(stdout, /^Nothing to do: .*collect\.lock is held by process/);
});
