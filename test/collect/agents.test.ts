import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { aLaptop, app, appUrl, aTeam, type TestLaptop, textIn, threadsIn } from '../support/laptops.ts';
import { git, writeFiles } from '../support/repository.ts';
import { furtherSamples, samples } from '../support/sessions.ts';

const ids = [
  '01a229b5-1a9c-76d3-aaac-f76d841a2efb',
  'bceb1b1d-169c-4b8a-bff9-c7847189b924',
  'ff2e5fd5-d029-4eec-b9b6-0a77c6f74065',
  'ses_dd64baf82ffejwkbVSQ0wkClD1',
];
const [copilot, trivial, gemini, openCode, pi] = furtherSamples;
const hook = join(samples, '../../../scripts/collect/hook.mjs');

test('sessions in every agent’s own folder are found, and sent with the repository of the folder that they took place in', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  workedIn(laptop);
  const { stdout, stderr, code } = await laptop.collect();
  assert.deepEqual([code, stdout.split('\n')[0]], [0, 'Sent 4 sessions.'], stderr);
  assert.deepEqual(threadsIn(team), ids);
  for (const id of ids) {
    const [header = ''] = textIn(team, id).split('\n');
    const { thread } = JSON.parse(header) as { thread: { repo: string; cwd: string } };
    assert.deepEqual([thread.repo, thread.cwd], [app, '.'], id);
    assert.ok(!textIn(team, id).includes(laptop.home), id);
  }
  assert.match((await laptop.collect()).stdout, /^Sent 0 sessions/);
});

test('the recorded payloads of the hooks lead to the sessions of their agents', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  const folder = aCheckout(laptop);
  writeFiles(laptop.home, {
    '.copilot/session-state/b0383e95-2462-4442-8966-61c3ff7468ed/events.jsonl': moved(trivial, folder),
    '.gemini/tmp/multi-gm2/.project_root': folder,
    '.gemini/tmp/multi-gm2/chats/session-2026-11-29T23-55-4781daaf.jsonl': moved(gemini, folder),
  });
  for (const [agent, file] of [
    ['copilot', 'copilot-sessionEnd.jsonl'],
    ['gemini', 'gemini-SessionEnd.jsonl'],
  ] as const) {
    const payload = readFileSync(join(samples, '../hooks', file), 'utf8').replace('/home/dana-gm', laptop.home);
    const env = { ...laptop.env, CTM_HOOK: 'spool' };
    const taken = spawnSync(process.execPath, [hook, agent], { input: payload, env, encoding: 'utf8' });
    assert.deepEqual([taken.status, taken.stderr], [0, '']);
  }
  const { stdout, stderr } = await laptop.collect(['--spooled']);
  assert.match(stdout, /^Sent 2 sessions/, stderr);
  assert.deepEqual(threadsIn(team), ['b0383e95-2462-4442-8966-61c3ff7468ed', ids[1]]);
});

test('one that grew is sent again, and only it', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  workedIn(laptop);
  await laptop.collect();
  const path = join('.gemini/tmp/app/chats', 'session-2026-11-29T23-48-bceb1b1d.jsonl');
  const more = {
    id: 'x',
    timestamp: '2026-11-29T23:59:00.000Z',
    type: 'user',
    content: [{ text: 'No, use integer cents.' }],
  };
  writeFiles(laptop.home, {
    [path]: `${readFileSync(join(laptop.home, path), 'utf8')}${JSON.stringify(more)}\n`,
  });
  assert.match((await laptop.collect()).stdout, /^Sent 1 session/);
  assert.ok(textIn(team, ids[1] ?? '').includes('integer cents'));
});

/** The recorded sessions as if they had taken place on this laptop, each where its agent keeps it. */
function workedIn(laptop: TestLaptop): void {
  const folder = aCheckout(laptop);
  writeFiles(laptop.home, {
    [`.copilot/session-state/${ids[2]}/events.jsonl`]: moved(copilot, folder),
    '.gemini/tmp/app/.project_root': folder,
    '.gemini/tmp/app/chats/session-2026-11-29T23-48-bceb1b1d.jsonl': moved(gemini, folder),
    '.gemini/tmp/app/logs.json': '[]',
    [`.local/share/opencode/exports/${ids[3]}.json`]: moved(openCode, folder),
    [`.pi/agent/sessions/--src-app--/2026-11-29T23-47-44-414Z_${ids[0]}.jsonl`]: moved(pi, folder),
  });
}

function aCheckout({ home }: TestLaptop): string {
  const folder = join(home, 'src/app');
  writeFiles(folder, { 'src/total.js': '' });
  git(folder, 'init', '--quiet');
  git(folder, 'remote', 'add', 'origin', appUrl);
  return folder;
}

function moved({ path }: { readonly path: string }, folder: string): string {
  return readFileSync(path, 'utf8').replace(/\/home\/dana\/src\/multi(?:-\w\w)?(?=["/])/g, folder);
}
