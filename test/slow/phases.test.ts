import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aMemory, someSessions } from '../support/memories.ts';
import { command, over, tips } from '../support/nights.ts';
import { aRepository, git } from '../support/repository.ts';

const memories = (repo: string) => git(repo, 'rev-parse', 'main:memories');
const subjects = (repo: string) => git(repo, 'log', '--reverse', '--format=%s').split('\n');

test('phase 1 and then phase 2 make the memory that one night makes', async (t) => {
  const whole = await aMemory(t);
  const repo = aRepository(t);
  const first = await command('phase1', [...over(repo, someSessions), '--json']);
  assert.equal(first.code, 0);
  const learned: { outcome: string; sessions: { extracted: string[] }; scopes: unknown[] } = JSON.parse(first.stdout);
  assert.equal(learned.outcome, 'done');
  assert.ok(learned.sessions.extracted.length > 5);
  assert.deepEqual(learned.scopes, []);
  assert.deepEqual(git(repo, 'ls-tree', '--name-only', 'main:memories').split('\n'), [
    'raw_memories.md',
    'rollout_summaries',
  ]);
  const checked = await command('check', ['--repo', repo]);
  assert.equal(checked.code, 0, checked.stdout);
  const second = await command('phase2', ['--repo', repo]);
  assert.equal(second.code, 0);
  assert.match(second.stdout, /^Done: \d+ scopes were consolidated, main is at /);
  assert.doesNotMatch(second.stdout, /^sessions/m);
  assert.equal(memories(repo), memories(whole));
  assert.match(subjects(repo).join(' | '), /^memory: inputs of \d+ sessions \| .*memory: learned in \d+ repositories$/);
});

test('with nothing to do either half says so and changes nothing', async (t) => {
  const repo = await aMemory(t);
  const before = tips(repo);
  const first = await command('phase1', over(repo, someSessions));
  assert.equal(first.code, 0);
  assert.match(first.stdout, /^Nothing to do: every session is read or waits\.$/m);
  const second = await command('phase2', ['--repo', repo, '--json']);
  assert.equal(second.code, 0);
  assert.equal(JSON.parse(second.stdout).outcome, 'quiet');
  assert.deepEqual(tips(repo), before);
});

test('a dry run of phase 1 tells what is up to date, and phase 2 takes no sources', async (t) => {
  const repo = await aMemory(t);
  const dry = await command('phase1', [...over(repo, someSessions), '--dry-run']);
  assert.equal(dry.code, 0);
  assert.match(dry.stdout, /^Would read 0 of \d+ sessions/);
  assert.match(dry.stdout, /up to date/);
  const refused = await command('phase2', over(repo, someSessions));
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /--help/);
});
