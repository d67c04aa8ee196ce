import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { rewriteArchive } from '../../scripts/archive/rewrite.ts';
import { tombstoneKey } from '../../scripts/archive/tombstones.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { parseRollout } from '../../scripts/rollout/canonical.ts';
import { fixedClock, parseIsoTime } from '../../scripts/shared/clock.ts';
import { aFix, uuid } from '../support/codex-session.ts';
import {
  aLaptop,
  app,
  appUrl,
  aTeam,
  everyObject,
  inRef,
  textIn,
  threadsIn,
  today,
  touch,
} from '../support/laptops.ts';
import { env, git, writeFiles } from '../support/repository.ts';
import { joined, made } from '../support/secrets.ts';

const clock = fixedClock(parseIsoTime(today) ?? 0);

async function archiveOf(team: string) {
  return { repository: await openRepository(team, { env }), ref: archiveRef, remote: null };
}

function codexHead(path: string): string {
  return readFileSync(path, 'utf8').split('\n')[0] ?? '';
}

function replaceHead(path: string, head: string): void {
  writeFileSync(path, [head, ...readFileSync(path, 'utf8').split('\n').slice(1)].join('\n'));
}

test('a session of an included repository stands in the ref, by its day, without the laptop’s names', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  laptop.codex(
    aFix(1, [{ human: `Look at ${laptop.home}/src/app too.` }], { remote: appUrl, cwd: join(laptop.home, 'src/app') }),
  );
  const { code, stdout } = await laptop.collect();
  assert.deepEqual([code, stdout], [0, 'Sent 1 session.\n']);
  assert.deepEqual(inRef(team), [`2026/11/29/${uuid(1)}.jsonl`]);
  const text = textIn(team, uuid(1));
  const { thread, items } = parseRollout(`${text}\n`);
  assert.equal(thread.repo, app);
  assert.ok(items.some((item) => item.text === 'Look at ~/src/app too.'));
  assert.ok(!text.includes(laptop.home));
});

test('an unchanged session is not read again; of the others only what grew is sent', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  for (const n of [1, 2, 3]) laptop.codex(aFix(n, [], { remote: appUrl }));
  await laptop.collect();
  const before = git(team, 'rev-parse', archiveRef);
  assert.equal((await laptop.collect()).stdout, 'Sent 0 sessions.\n3 files unchanged since the last time.\n');
  assert.equal(git(team, 'rev-parse', archiveRef), before);
  laptop.codex(aFix(2, [{ human: 'One more thing.' }], { remote: appUrl }));
  const { stdout } = await laptop.collect();
  assert.equal(stdout, 'Sent 1 session.\n2 files unchanged since the last time.\n');
  assert.equal(git(team, 'diff', '--name-status', before, archiveRef), `M\t2026/11/29/${uuid(2)}.jsonl`);
  assert.equal(git(team, 'rev-parse', `${archiveRef}^`), before);
});

test('a laptop that lost its notes sends nothing twice', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  const path = laptop.codex(aFix(1, [], { remote: appUrl }));
  await laptop.collect();
  const before = git(team, 'rev-parse', archiveRef);
  touch(path, '2026-11-30T07:00:00Z');
  assert.match((await laptop.collect()).stdout, /1 session there already/);
  rmSync(join(laptop.home, 'ctm/state'), { recursive: true });
  assert.match((await laptop.collect()).stdout, /1 session there already/);
  writeFiles(laptop.home, { 'ctm/state/seen-0000000000000000.jsonl': 'x' });
  assert.match((await laptop.collect(['--all'])).stdout, /1 session there already/);
  assert.equal(git(team, 'rev-parse', archiveRef), before);
});

test('a session whose transcript was deleted stays', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  const path = laptop.codex(aFix(1, [], { remote: appUrl }));
  await laptop.collect();
  rmSync(path);
  laptop.codex(aFix(2, [], { remote: appUrl }));
  await laptop.collect();
  assert.deepEqual(threadsIn(team), [uuid(1), uuid(2)]);
  const shown = await laptop.collect(['--show', uuid(1)]);
  assert.deepEqual([shown.code, shown.stdout.trimEnd()], [0, textIn(team, uuid(1))]);
});

test('what a fork repeats is sent once, also when the session that it forked from is gone', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  const words = [{ human: 'Fix the rounding.' }, { says: 'Done.' }];
  const original = { id: uuid(1), remote: appUrl, events: words };
  const parent = laptop.codex(original);
  await laptop.collect();
  const fork = (more: string) => {
    const events = [...words, { human: more }];
    const path = laptop.codex({ id: uuid(2), remote: appUrl, events, at: '2026-11-29T11:00:00Z' });
    const meta = JSON.parse(codexHead(path)) as { payload: Record<string, unknown> };
    meta.payload.forked_from_id = uuid(1);
    replaceHead(path, JSON.stringify(meta));
  };
  fork('And the tax?');
  await laptop.collect();
  const sent = () => parseRollout(`${textIn(team, uuid(2))}\n`);
  assert.deepEqual(
    sent().items.map(({ text }) => text),
    ['And the tax?'],
  );
  rmSync(parent);
  fork('And the tax? And the total?');
  await laptop.collect();
  assert.deepEqual(
    sent().items.map(({ text }) => text),
    ['And the tax? And the total?'],
  );
  assert.equal(sent().skipped.repeated, 2);
});

test('no secret of a session is in any object, here or there', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  const secrets = [joined('ghp', '_', made(36)), joined('AKIA', made(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'))];
  const out = `token ${secrets[0]}\nexport AWS_ACCESS_KEY_ID=${secrets[1]}\n`;
  laptop.codex(
    aFix(1, [{ run: `curl -H "Authorization: Bearer ${secrets[0]}" x`, out }], {
      remote: appUrl,
      branch: `fix-${secrets[0]}`,
    }),
  );
  const dry = await laptop.collect(['--dry-run', '--json']);
  const [session] = (JSON.parse(dry.stdout) as { sessions: { secrets: Record<string, number> }[] }).sessions;
  assert.ok(Object.values(session?.secrets ?? {}).reduce((sum, n) => sum + n, 0) >= 3);
  const { stdout, stderr } = await laptop.collect();
  assert.match(stdout, /Sent 1 session, without \d+ secrets/);
  const all = [everyObject(team), everyObject(laptop.clone), dry.stdout, stdout, stderr].join('\n');
  assert.ok(all.includes('[REDACTED_SECRET]'));
  for (const secret of secrets) assert.ok(!all.includes(secret));
});

test('what is forgotten or old is never uploaded, however often it grows', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  for (const n of [1, 2]) laptop.codex(aFix(n, [], { remote: appUrl }));
  laptop.codex(aFix(3, [], { remote: appUrl, at: '2026-10-01T10:00:00Z' }));
  await laptop.collect();
  assert.deepEqual(threadsIn(team), [uuid(1), uuid(2)]);
  const salt = 'salt';
  const tombstones = { salt, keys: [tombstoneKey(salt, { kind: 'thread', thread: uuid(1) })] };
  await rewriteArchive(await archiveOf(team), { threads: new Set([uuid(1)]), notSince: null, tombstones }, { clock });
  laptop.codex(aFix(1, [{ human: 'More.' }], { remote: appUrl }));
  assert.match((await laptop.collect()).stdout, /1 session forgotten by the team: never sent/);
  await laptop.collect(['--all']);
  assert.deepEqual(threadsIn(team), [uuid(2)]);
  const later = await laptop.collect(['--all'], { at: '2027-01-15T08:00:00Z' });
  assert.match(later.stdout, /3 sessions stayed: older than rollouts.retention_days/);
  assert.deepEqual(threadsIn(team), [uuid(2)]);
});

test('nothing is uploaded while the tombstones cannot be read', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  laptop.codex(aFix(1, [], { remote: appUrl }));
  await laptop.collect();
  const { repository } = await archiveOf(team);
  const tip = git(team, 'rev-parse', archiveRef);
  const commit = await repository.writeCommit({
    base: tip,
    parents: [tip],
    changes: new Map([['tombstones.json', '{"format":"ctm-tombstones","version":9}']]),
    message: 'Newer',
    author: { name: 'N', email: 'n@example.org' },
    at: 1_796_000_000,
  });
  await repository.swapRef(archiveRef, tip, commit);
  laptop.codex(aFix(2, [], { remote: appUrl }));
  const { code, stderr } = await laptop.collect();
  assert.equal(code, 1);
  assert.match(stderr, /tombstones\.json .* cannot be used/);
  assert.equal(git(team, 'rev-parse', archiveRef), commit);
});

test('consent and configuration both have to name a repository; neither widens the other', async (t) => {
  const team = aTeam(t, 'version: 1\ninclude: [git.example.test/acme/*]\nexclude: [git.example.test/acme/secret]\n');
  const laptop = aLaptop(t, team);
  const of = (name: string) => `https://git.example.test/${name}.git`;
  laptop.codex(aFix(1, [], { remote: appUrl }));
  laptop.codex(aFix(2, [], { remote: of('acme/other') }));
  laptop.codex(aFix(3, [], { remote: of('acme/secret') }));
  laptop.codex(aFix(4, [], { remote: of('dana/private') }));
  laptop.allow({ include: [app, 'git.example.test/acme/secret', 'git.example.test/dana/*'] });
  const { stdout } = await laptop.collect(['--json']);
  assert.deepEqual((JSON.parse(stdout) as { left_out: object }).left_out, {
    no_consent: 1,
    repository_excluded: 1,
    repository_not_included: 1,
  });
  assert.deepEqual(threadsIn(team), [uuid(1)]);
  laptop.allow({ include: [app, 'git.example.test/acme/other'] });
  await laptop.collect();
  assert.deepEqual(threadsIn(team), [uuid(1), uuid(2)], 'what was left out is looked at again under other rules');
});

test('an opted-out session, one without a person, and a sub-agent’s stay here', async (t) => {
  const team = aTeam(t, 'version: 1\ninclude: [git.example.test/acme/app, none]\n');
  const laptop = aLaptop(t, team);
  laptop.codex(aFix(1, [], { remote: appUrl }));
  laptop.codex({ id: uuid(2), remote: appUrl, events: [{ says: 'Nobody asked.' }] });
  laptop.allow({ include: [app, 'none'] }, { optOut: [uuid(1)] });
  const { stdout } = await laptop.collect(['--json']);
  assert.deepEqual((JSON.parse(stdout) as { left_out: object }).left_out, { no_human_words: 1, opted_out: 1 });
  assert.deepEqual(inRef(team), []);
});

test('without consent nothing is read, and the way to give it is said', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  laptop.codex(aFix(1, [], { remote: appUrl }));
  laptop.allow({ memory: 'git.example.test/acme/elsewhere' });
  for (const args of [[], ['--dry-run'], ['--show', uuid(1)]]) {
    const { code, stderr } = await laptop.collect(args);
    assert.equal(code, 2);
    assert.match(stderr, /has not agreed .*\n.*collect -- --init/);
  }
  rmSync(join(laptop.home, 'ctm/collect.yml'));
  assert.equal((await laptop.collect()).code, 2);
  assert.deepEqual(inRef(team), []);
});

for (const [what, exposure, allowed, code] of [
  ['public', { kind: 'seen', isPublic: true, isFork: false }, {}, 2],
  ['public, whatever the laptop believes', { kind: 'seen', isPublic: true, isFork: false }, { isPrivate: true }, 2],
  ['a fork', { kind: 'seen', isPublic: false, isFork: true }, {}, 2],
  ['public, and this laptop says so', { kind: 'seen', isPublic: true, isFork: false }, { allowPublic: true }, 0],
  ['private', { kind: 'seen', isPublic: false, isFork: false }, {}, 0],
  ['hidden from strangers', { kind: 'hidden' }, {}, 2],
  ['hidden, and this laptop knows it to be private', { kind: 'hidden' }, { isPrivate: true }, 0],
  ['unknown', { kind: 'unknown', why: 'no answer' }, {}, 2],
] as const) {
  test(`a memory repository that is ${what} is ${code === 0 ? 'sent to' : 'refused'}`, async (t) => {
    const team = aTeam(t);
    const laptop = aLaptop(t, team);
    laptop.codex(aFix(1, [], { remote: appUrl }));
    laptop.allow(allowed);
    assert.equal((await laptop.collect([], { exposure })).code, code);
    assert.deepEqual(threadsIn(team), code === 0 ? [uuid(1)] : []);
    assert.equal((await laptop.collect(['--dry-run'], { exposure })).code, 0);
  });
}

test('a dry run names the repositories that this laptop has not agreed to', async (t) => {
  const laptop = aLaptop(t, aTeam(t));
  laptop.codex(aFix(1, [], { remote: appUrl }));
  laptop.allow({ include: ['git.example.test/acme/other'] });
  const { stdout } = await laptop.collect(['--dry-run']);
  assert.match(stdout, /^0 sessions would leave this machine\.\n1 session stayed: this laptop/);
  assert.match(stdout, new RegExp(`not both files name them\\nrepository +sessions\\n${app} +1\\n$`));
});

test('a dry run names what would leave, and leaves no trace', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  laptop.codex(aFix(1, [{ human: `Use ${joined('ghp', '_', made(36))}.` }], { remote: appUrl }));
  const { stdout } = await laptop.collect(['--dry-run']);
  assert.match(stdout, /^1 session would leave this machine, without 1 secret\.\n/);
  assert.match(stdout, new RegExp(`${uuid(1)} +${app} +\\d+ +\\d+ +github-token 1 +The tests of module 1 fail`));
  assert.deepEqual(inRef(team), []);
  assert.match((await laptop.collect()).stdout, /^Sent 1 session/);
});

test('what is shown is byte for byte what is sent', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  laptop.codex(aFix(1, [{ human: `Use ${joined('ghp', '_', made(36))} \u202e‮ now.` }], { remote: appUrl }));
  const shown = await laptop.collect(['--show', uuid(1)]);
  await laptop.collect();
  const lines = (text: string): unknown[] =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
  assert.deepEqual(lines(shown.stdout), lines(textIn(team, uuid(1))));
  assert.ok(!shown.stdout.includes('\u202e'), 'nothing that a terminal obeys');
  assert.equal((await laptop.collect(['--show', 'no-such-session'])).code, 2);
});

test('the author is the laptop’s word, else the team’s handle, else a pseudonym, never an address', async (t) => {
  const team = aTeam(t, `version: 1\ninclude: [${app}]\npeople: { dana@team.example: dana }\n`);
  const laptop = aLaptop(t, team);
  const authorNow = async (n: number) => {
    laptop.codex(aFix(n, [], { remote: appUrl }));
    await laptop.collect();
    const { thread } = parseRollout(`${textIn(team, uuid(n))}\n`);
    return thread.author;
  };
  git(laptop.clone, 'config', 'user.email', 'Erin@Team.Example');
  assert.match((await authorNow(1)) ?? '', /^p-[0-9a-f]{10}$/);
  git(laptop.clone, 'config', 'user.email', 'D.Ana@Old.Example');
  writeFiles(laptop.clone, { '.mailmap': 'Dana <Dana@team.example> <d.ana@old.example>\n' });
  assert.equal(await authorNow(2), 'dana');
  laptop.allow({}, { author: 'D' });
  assert.equal(await authorNow(3), 'D');
  assert.ok(!everyObject(team).includes('Example'));
});

test('recorded sessions of Claude Code are sent, a fork’s records once', async (t) => {
  const team = aTeam(t, 'version: 1\ninclude: [none]\n');
  const laptop = aLaptop(t, team);
  laptop.allow({ include: ['none'] });
  laptop.claude('-home-dana-src-orders-api');
  const { code } = await laptop.collect();
  assert.equal(code, 0);
  assert.ok(threadsIn(team).length >= 9);
  const sessions = new Map<string, Set<string>>();
  for (const id of threadsIn(team))
    for (const { src } of parseRollout(`${textIn(team, id)}\n`).items)
      if (src.id !== undefined) sessions.set(src.id, (sessions.get(src.id) ?? new Set()).add(id));
  assert.ok(sessions.size > 50);
  assert.deepEqual(
    [...sessions].filter(([, holders]) => holders.size > 1),
    [],
  );
});
