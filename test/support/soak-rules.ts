import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { basisOf } from '../../scripts/check/basis.ts';
import { check } from '../../scripts/check/run.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { loadConfig } from '../../scripts/nightly/settings.ts';
import { day } from '../../scripts/shared/clock.ts';
import { parseNightRecord } from '../../scripts/state/night-record.ts';
import { uuid } from './codex-session.ts';
import { env, git } from './repository.ts';
import { handbook, proposal, type Rows, type Soak, stateRef, stateText, tablesAt, viewOf, wordsAt } from './soak.ts';
import { secret } from './soak-hostile.ts';
import { moneyIsWellKept } from './soak-money.ts';
import type { SoakNight } from './soak-night.ts';

/** What stood before a night. */
export interface Seen {
  readonly state: string;
  readonly reviewed: ReadonlySet<string>;
  readonly proposed: ReadonlySet<string>;
  readonly main: string | null;
}

export function seenBefore(soak: Soak): Seen {
  return {
    state: stateText(soak),
    reviewed: wordsAt(soak, 'refs/heads/main'),
    proposed: wordsAt(soak, proposal),
    main: soak.team.tip('refs/heads/main'),
  };
}

/** What holds after a night, however it ended. */
export async function holdsAfter(soak: Soak, before: Seen, played: SoakNight): Promise<void> {
  const [then, now] = [tablesAt(before.state), tablesAt(stateText(soak))];
  noRowIsLost(soak, then, now, played);
  nothingCountsTwice(soak, now);
  noWatermarkGoesBack(then, now);
  moneyIsWellKept(soak, now('runs'), played);
  nothingForgottenIsBack(soak);
  await artifactsAreValid(soak);
}

/** What holds besides after a night in which nothing went wrong and nobody did anything. */
export function holdsAfterACalmNight(soak: Soak, before: Seen, { night, at }: SoakNight): void {
  const { team, sayings, forgotten, removed, excused, notes } = soak;
  if (night === null || night.outcome === 'held') return;
  assert.equal(parseNightRecord(team.file(stateRef, 'night.json')).pendingPush, null, 'nothing is left pending');
  assert.equal(team.tip('refs/heads/main'), before.main, 'the default branch is moved by people alone');
  assert.ok(team.forge.pulls.filter(({ state }) => state === 'open').length <= 1, 'one pull request at most is open');
  const view = viewOf(soak);
  const words = wordsAt(soak, view);
  for (const word of removed)
    assert.ok(!words.has(word) || before.reviewed.has(word), `${word} was taken away by a person and came back`);
  for (const word of forgotten)
    assert.ok(!words.has(word) || before.reviewed.has(word), `${word} was forgotten and came back`);
  const handbookText = team.file(view, handbook);
  for (const note of notes)
    if (team.file('refs/heads/main', handbook).includes(note))
      assert.ok(handbookText.includes(note), `a person’s line is gone: ${note}`);
  const { phase1, phase2 } = night.report;
  const late = new Set([...phase1.left, ...phase1.failed.map(({ threadId }) => threadId)]);
  const unsettled = new Set(
    phase2.scopes.filter(({ outcome }) => !['consolidated', 'unchanged'].includes(outcome)).map(({ scope }) => scope),
  );
  const jobs = new Map(tablesAt(stateText(soak))('jobs').map((job) => [job.key, job]));
  for (const { n, word, repo, at: said } of sayings) {
    const isDue = said < at - day / 2 && said > at - 9 * day;
    const isOut = forgotten.has(word) || removed.has(word) || excused.has(word) || unsettled.has(repo);
    if (!isDue || isOut || late.has(uuid(n)) || jobs.get(uuid(n))?.status === 'error') continue;
    assert.ok(words.has(word), `${word} was said and is nowhere`);
  }
}

type Tables = (name: string) => Rows;

function noRowIsLost(soak: Soak, then: Tables, now: Tables, { at }: SoakNight): void {
  const horizon = horizonOf(now);
  const cutoff = Math.max(horizon, at - 30 * day);
  const forgotten = new Set(soak.sayings.filter(({ word }) => soak.forgotten.has(word)).map(({ n }) => uuid(n)));
  const stays = (table: string, key: readonly string[], mayGo: (row: Rows[0]) => boolean) => {
    const keyOf = (row: Rows[0]) => key.map((column) => row?.[column]).join(' ');
    const kept = new Set(now(table).map(keyOf));
    for (const row of then(table))
      assert.ok(kept.has(keyOf(row)) || mayGo(row), `a row of ${table} is lost: ${JSON.stringify(row)}`);
  };
  stays('runs', ['run_id'], () => false);
  stays('tombstones', ['kind', 'key'], () => false);
  stays('threads', ['thread_id'], (row) => Number(row?.updated_at) < horizon || forgotten.has(String(row?.thread_id)));
  stays('stage1_outputs', ['thread_id', 'extractor_class'], (row) => {
    return Number(row?.source_updated_at) < cutoff || forgotten.has(String(row?.thread_id));
  });
  stays('citations', ['event_id'], (row) => {
    return Number(row?.at) < cutoff || [row?.cited, row?.citing_thread].some((id) => forgotten.has(String(id)));
  });
}

function nothingCountsTwice(soak: Soak, now: Tables): void {
  const pairs = new Set<string>();
  for (const { event_id: event, cited, citing_thread: citing } of now('citations')) {
    const pair = `${cited} ${citing}`;
    assert.ok(soak.cited.has(pair), `nobody cited so: ${pair}`);
    assert.ok(!pairs.has(pair), `counted twice: ${pair}`);
    pairs.add(pair);
    soak.counted.add(String(event));
  }
  const runs = now('runs');
  const told = runs.reduce((sum, { counts }) => sum + (JSON.parse(String(counts)).citations ?? 0), 0);
  assert.ok(told <= soak.counted.size, `the nights say ${told} citations, and there were ${soak.counted.size}`);
}

function noWatermarkGoesBack(then: Tables, now: Tables): void {
  assert.ok(horizonOf(now) >= horizonOf(then), 'the horizon went back');
  const jobs = new Map(now('jobs').map((row) => [`${row.kind} ${row.key}`, row]));
  for (const before of then('jobs')) {
    const after = jobs.get(`${before.kind} ${before.key}`);
    if (after === undefined) continue;
    for (const column of ['input_watermark', 'last_success_watermark'] as const)
      assert.ok(
        Number(after[column] ?? 0) >= Number(before[column] ?? 0),
        `${column} of ${before.key} went back from ${before[column]} to ${after[column]}`,
      );
  }
}

function nothingForgottenIsBack(soak: Soak): void {
  const { team, forgotten, model } = soak;
  assert.ok(!model.hasLeaked, 'a secret was sent');
  const refs = git(team.dir, 'for-each-ref', '--format=%(refname)').split('\n');
  const found = holding(team.dir, refs, [secret, ...forgotten]);
  assert.deepEqual(
    found.filter(({ words }) => words === secret),
    [],
    'a secret stands in a ref',
  );
  const threads = new Map(soak.sayings.map(({ word, n }) => [word, uuid(n)]));
  // Sessions that were given it before it was gone from the default branch may say it.
  const isItsOwn = ({ ref, path, words }: Held) => ref !== archiveRef || path.includes(threads.get(words) ?? '');
  const back = found.filter((held) => held.words !== secret && [stateRef, archiveRef].includes(held.ref));
  assert.deepEqual(back.filter(isItsOwn), [], 'what was forgotten stands');
}

interface Held {
  readonly ref: string;
  readonly path: string;
  readonly words: string;
}

/** Which of the words stand in which files of which refs' trees. */
function holding(dir: string, refs: readonly string[], words: readonly string[]): Held[] {
  const wanted = words.flatMap((one) => ['-e', one]);
  const found = spawnSync(
    'git',
    ['grep', '--text', '--only-matching', '--null', '--fixed-strings', ...wanted, ...refs, '--'],
    {
      cwd: dir,
      env: { ...env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
      encoding: 'utf8',
      maxBuffer: 256 * 1024 * 1024,
    },
  );
  if (found.status === null || found.status > 1) throw new Error(`git grep failed: ${found.stderr}`);
  const lines = new Set(found.stdout.split('\n').filter(Boolean));
  return [...lines].map((line) => {
    const [, ref, path, held] = /^([^:]+):([^\0]+)\0(.+)$/.exec(line) ?? [];
    if (ref === undefined || path === undefined || held === undefined) throw new Error(`git grep printed ${line}`);
    return { ref, path, words: held };
  });
}

async function artifactsAreValid(soak: Soak): Promise<void> {
  const { team } = soak;
  const repository = await openRepository(team.dir, { env });
  const config = await loadConfig(repository);
  for (const ref of new Set(['refs/heads/main', viewOf(soak)])) {
    const tree = team.tip(ref);
    const wishes = { committed: true, base: null, repositories: [], sources: [], cwd: team.dir, home: '/nowhere', env };
    const { tree: judged, basis } = await basisOf(repository, config, { ...wishes, tree });
    const { findings } = await check(judged, basis);
    const lineAt = ({ path, line }: { path: string; line: number }) =>
      judged.files.get(path)?.split('\n')[line - 1] ?? '';
    const isPeoples = (line: string) =>
      soak.written.has(line) || [...soak.forgotten].some((word) => ref !== proposal && line.includes(word));
    const errors = findings.filter((one) => one.severity === 'error' && !isPeoples(lineAt(one)));
    assert.deepEqual(errors, [], `${ref} breaks rules`);
  }
}

function horizonOf(tables: Tables): number {
  return Number(tables('meta').find(({ key }) => key === 'horizon')?.value ?? 0);
}
