import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { aFix, uuid } from '../support/codex-session.ts';
import { aLaptop, app, appUrl, aTeam, everyObject, inRef, threadsIn } from '../support/laptops.ts';
import { playedHere, root } from '../support/nights.ts';
import { writeFiles } from '../support/repository.ts';

function leftOut(stdout: string): object {
  return (JSON.parse(stdout) as { left_out: object }).left_out;
}

test('what a person marks as private is in no object, here or there; the word, the laptop’s own word and a hook keep a session out', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  const said = 'the customer is Halvorsen Shipping of Oslo';
  laptop.codex(
    aFix(
      1,
      [{ human: `Then bill them: <PRIVATE>\r\n${said}\r\n</private> thanks` }, { run: `grep "${said}" *`, out: said }],
      {
        remote: appUrl,
      },
    ),
  );
  laptop.codex(aFix(2, [{ human: 'And now #no-memory: my own taxes' }], { remote: appUrl }));
  const byHook = laptop.codex(aFix(3, [], { remote: appUrl }));
  mkdirSync(join(laptop.home, 'ctm'), { recursive: true });
  const payload = JSON.stringify({ hook_event_name: 'Stop', transcript_path: byHook });
  const hook = [join(root, 'scripts/collect/hook.mjs'), 'codex', '--no-memory'];
  const noted = spawnSync(process.execPath, hook, { input: payload, env: laptop.env, encoding: 'utf8' });
  assert.deepEqual([noted.status, noted.stderr], [0, '']);
  const sent = await laptop.collect(['--json']);
  assert.equal(sent.code, 0, sent.stderr);
  assert.deepEqual(leftOut(sent.stdout), { opted_out: 2 });
  assert.deepEqual(threadsIn(team), [uuid(1)]);
  for (const dir of [team, laptop.clone]) assert.doesNotMatch(everyObject(dir), /Halvorsen/);
  assert.match(everyObject(team), /Then bill them: \[private\] thanks/);
  assert.match(everyObject(team), /"private":1/, 'counted in the manifest');

  laptop.codex(aFix(4, [{ human: 'psst! this one' }], { remote: appUrl }));
  laptop.allow({ include: [app] }, { optOutWord: 'psst!' });
  const other = await laptop.collect(['--json']);
  assert.deepEqual(leftOut(other.stdout), { opted_out: 2 });
  assert.deepEqual(threadsIn(team).sort(), [uuid(1), uuid(2)], 'its own word stands for the usual one');
});

test('switched off, neither a night nor a laptop touches a file', async (t) => {
  const team = aTeam(t, `version: 1\nenabled: false\ninclude: [${app}]\n`);
  const laptop = aLaptop(t, team);
  laptop.codex(aFix(1, [], { remote: appUrl }));
  writeFiles(laptop.home, { 'keep.txt': 'as it was\n' });
  const before = stamp(laptop.home);
  const collected = await laptop.collect();
  assert.deepEqual([collected.code, /enabled is false/.test(collected.stdout)], [0, true]);
  const night = await playedHere(
    ['--repo', laptop.clone, '--source', `codex:${join(laptop.home, '.codex/sessions')}`, '--now'],
    { HOME: laptop.home, CTM_HOME: join(laptop.home, 'ctm') },
  );
  assert.deepEqual([night.code, /enabled is false/.test(night.stdout)], [0, true]);
  assert.deepEqual(stamp(laptop.home), before);
  assert.deepEqual(inRef(team), []);
});

/** Path → when it was written and what it holds. */
function stamp(folder: string): Map<string, string> {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path, `${statSync(path).mtimeMs} ${readFileSync(path).toString('base64')}`];
    }),
  );
}
