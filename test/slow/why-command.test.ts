import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { linesOf } from '../../scripts/why/lines.ts';
import { handbookPath } from '../../scripts/workspace/layout.ts';
import { aMemory, someSessions } from '../support/memories.ts';
import { command } from '../support/nights.ts';
import { aRepository, git } from '../support/repository.ts';

test('an answer is exit 0 and as JSON one object, in this shape; several matches are 2, none is 1, as is no memory', async (t) => {
  const repo = await aMemory(t);
  const text = readFileSync(join(repo, handbookPath), 'utf8');
  const [bullet] = linesOf(handbookPath, text).filter(({ kind }) => kind === 'bullet');
  assert.ok(bullet);
  const place = `${handbookPath}:${bullet.line}`;
  const source = someSessions.flatMap(({ agent, path }) => ['--source', `${agent}:${path}`]);
  const ask = (...args: string[]) => command('why', ['--repo', repo, ...args]);
  const answered = await ask(place, '--json', ...source);
  assert.equal(answered.code, 0, answered.stderr);
  assert.equal(answered.stdout.split('\n').length, 2);
  const json = JSON.parse(answered.stdout);
  assert.deepEqual(Object.keys(json), [
    'outcome',
    'at',
    'line',
    'origin',
    'earlier',
    'history_is_cut',
    'later',
    'sessions',
    'made_of',
    'person',
    'state',
  ]);
  assert.deepEqual([json.outcome, json.line.line, json.state, json.later], ['answer', bullet.line, 'ref', null]);
  assert.equal(json.origin.since.commit, git(repo, 'rev-parse', 'HEAD'));
  assert.deepEqual([json.origin.since.by, json.origin.since.known_by], ['run', 'record']);
  assert.equal(json.origin.since.run.models, 'builtin');
  const [session] = json.sessions;
  assert.match(session.rollout_path, /^\d{4}\/\d\d\/\d\d\/[\w-]+\.jsonl$/);
  assert.deepEqual(Object.keys(session.code), ['repo', 'commit', 'branch', 'cwd']);
  assert.equal(session.stage1.run_id, json.origin.since.run_id);
  assert.deepEqual([session.items[0].words.from, session.items[0].words.unchanged], ['this_machine', true]);

  const several = await ask('changed here', '--json');
  assert.equal(several.code, 2);
  assert.equal(JSON.parse(several.stdout).outcome, 'several');
  assert.match(several.stderr, /lines say this\. Name one by its place: npm run why -- memories\/MEMORY\.md:\d+/);
  const none = await ask('flying zebras');
  assert.deepEqual([none.code, none.stdout], [1, '']);
  assert.match(none.stderr, /No line of the memory says this\.[\s\S]*--history/);
  const nothing = await command('why', ['--repo', aRepository(t), 'anything']);
  assert.equal(nothing.code, 1);
  assert.match(nothing.stderr, /no memory[\s\S]*npm run nightly/);
  const unasked = await ask();
  assert.equal(unasked.code, 2);
  assert.match(unasked.stderr, /Which line\?/);
});

test('a place in an edited file is the line that stands there now; one that no commit holds says so', async (t) => {
  const repo = await aMemory(t);
  const path = join(repo, handbookPath);
  const text = readFileSync(path, 'utf8');
  const [bullet] = linesOf(handbookPath, text).filter(({ kind }) => kind === 'bullet');
  assert.ok(bullet);
  writeFileSync(path, `# Mine\n\n- not committed yet\n\n${text}`);
  const moved = await command('why', ['--repo', repo, `${handbookPath}:${bullet.line + 4}`, '--json']);
  assert.equal(JSON.parse(moved.stdout).line.line, bullet.line, moved.stderr);
  const fresh = await command('why', ['--repo', repo, `${handbookPath}:3`]);
  assert.equal(fresh.code, 1);
  assert.match(fresh.stderr, /is not committed yet[\s\S]*--at HEAD/);
});

test('without the state ref the published copy answers and says so; --at without a line lists what was believed', async (t) => {
  const repo = await aMemory(t);
  git(repo, 'update-ref', '-d', 'refs/memory/state');
  const text = readFileSync(join(repo, handbookPath), 'utf8');
  const bullets = linesOf(handbookPath, text).filter(({ kind }) => kind === 'bullet');
  const published = await command('why', ['--repo', repo, `MEMORY.md:${bullets[0]?.line}`]);
  assert.equal(published.code, 0, published.stderr);
  assert.match(
    published.stdout,
    /by run [0-9a-f]{16}[\s\S]*own trailer says[\s\S]*published copy; its ref is not here/,
  );
  const beliefs = await command('why', ['--repo', repo, '--at', '2026-12-01']);
  assert.equal(beliefs.code, 0);
  assert.match(
    beliefs.stdout,
    new RegExp(`^The handbook at [0-9a-f]{12}, 2026-12-01T03:17:00Z: ${bullets.length} lines\n`),
  );
  assert.equal(beliefs.stdout.trim().split('\n').length, bullets.length + 1);
});
