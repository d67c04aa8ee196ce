import assert from 'node:assert/strict';
import type { TeamNight } from '../../scripts/nightly/team.ts';
import { day } from '../../scripts/shared/clock.ts';
import type { Oid } from '../../scripts/shared/files.ts';
import { parseSnapshotText, valuesOf } from '../../scripts/state/snapshot-text.ts';
import { treeOfFiles } from '../../scripts/state/tree.ts';
import { digestPath } from '../../scripts/workspace/digest.ts';
import { project } from '../../scripts/workspace/scope.ts';
import { anAccident, type History, notesAt, openPull, peopleStep, wordsAt } from './history.ts';
import { tipOf } from './history-people.ts';
import { Died, filesAt, later, mainRef, playNight, stateRef } from './history-world.ts';
import { aClone, type MemoryClone } from './memory-git.ts';

/** A night in one of the team's clones or in a fresh one, perhaps with an accident; then the rules. */
export async function nightStep(history: History): Promise<void> {
  const { world, lots } = history;
  later(world, 1);
  const accident = anAccident(history);
  const machine = world.machines[lots.below(3)] ?? aClone(world.server, 'fresh');
  const kind = accident === null ? '' : ` (${accident.kind} ${accident.at})`;
  history.steps.push(`night${kind}`);
  let people = 0;
  const meanwhile = async () => {
    people += 1;
    history.steps.push('meanwhile:');
    await peopleStep(history);
  };
  const before = seenBy(history);
  const night = await played(history, machine, accident, meanwhile);
  if (night === null) return alwaysHolds(history);
  remember(history);
  alwaysHolds(history);
  if (people === 0) holdsAfterANight(history, before, night);
}

/** A history's last nights: nothing goes wrong, and soon there is nothing left to do. */
export async function lastNights(history: History): Promise<void> {
  const { world } = history;
  for (const left of [2, 1, 0]) {
    later(world, 1);
    history.steps.push('night');
    const before = seenBy(history);
    const refs = JSON.stringify([...world.server.refs].sort());
    const night = await played(history, aClone(world.server, 'fresh'), null, async () => undefined);
    assert.ok(night !== null);
    remember(history);
    alwaysHolds(history);
    holdsAfterANight(history, before, night);
    if (left === 0)
      assert.equal(JSON.stringify([...world.server.refs].sort()), refs, 'a night without news moves nothing');
  }
}

/** null where the night died. */
async function played(
  history: History,
  machine: MemoryClone,
  accident: ReturnType<typeof anAccident>,
  meanwhile: () => Promise<void>,
): Promise<TeamNight | null> {
  try {
    const night = await playNight(history.world, machine, accident, meanwhile, history.isRestless);
    assert.ok(night.outcome === 'played');
    history.steps.push(`from ${night.standing}`);
    return accident !== null && accident.kind !== 'people' ? null : night;
  } catch (error) {
    if (error instanceof Died) return null;
    const mayDie = accident !== null && accident.kind !== 'people';
    if (mayDie && /could not be asked/.test(String(error))) return null;
    if (history.steps.at(-1) === 'loses the state' && /state of its own/.test(String(error))) return null;
    throw error;
  }
}

interface Seen {
  readonly main: Oid | undefined;
  /** The branch, where it is under review. */
  readonly branch: Oid | null;
  /** Where it stands whatever became of it. */
  readonly anyBranch: Oid | null;
  readonly notes: ReadonlySet<string>;
}

function seenBy(history: History): Seen {
  const { world } = history;
  const branch = openPull(history) === null ? null : tipOf(world);
  const main = world.server.refs.get(mainRef);
  const notes = new Set([...notesAt(history, main), ...notesAt(history, branch)]);
  return { main, branch, anyBranch: tipOf(world), notes };
}

function remember(history: History): void {
  const tip = tipOf(history.world);
  if (tip !== null && history.tips.at(-1) !== tip && isOurs(history, tip)) history.tips.push(tip);
  history.unseen.clear();
}

function isOurs({ world }: History, tip: Oid): boolean {
  return world.server.objects.commits.get(tip)?.author.name !== 'A Person';
}

/** What holds whatever died. */
function alwaysHolds(history: History): void {
  const { world, written } = history;
  const open = world.forge.pulls.filter(({ state }) => state === 'open');
  assert.ok(open.length <= 1, 'at most one pull request of ours is open');
  assert.deepEqual(
    [...world.paid].filter(([, times]) => times > 1),
    [],
    'no answer is paid for twice',
  );
  for (const row of rowsOf(history, 'lines').filter(({ who }) => who !== 'removed')) {
    assert.ok(written.has(String(row.hash)), `a line is taken for a person's that none wrote: ${JSON.stringify(row)}`);
  }
}

function holdsAfterANight(history: History, before: Seen, night: TeamNight): void {
  const { world, removed, sayings, excused } = history;
  const main = world.server.refs.get(mainRef);
  assert.equal(main, before.main, 'the default branch is moved by people alone');
  const branch = openPull(history) === null ? null : tipOf(world);
  const view = branch ?? main;
  const words = wordsAt(history, view);
  const stood = new Set([...wordsAt(history, main), ...wordsAt(history, before.branch)]);
  for (const word of words) {
    assert.ok(!removed.has(word) || stood.has(word), `${word} was taken away by a person and came back`);
  }
  const notes = new Set(notesAt(history, view));
  for (const note of before.notes) assert.ok(notes.has(note), `a person's line is gone: ${note}`);
  const held = new Set(rowsOf(history, 'jobs').flatMap(({ key, held_runs }) => (held_runs === null ? [] : [key])));
  for (const { word, repo, at } of sayings) {
    const isDue = at < world.now - day / 2 && at > world.now - 9 * day;
    if (!isDue || removed.has(word) || held.has(repo) || excused.has(word)) continue;
    assert.ok(words.has(word), `${word} was said and is nowhere`);
  }
  baselineHolds(history, view, night);
}

function baselineHolds({ world }: History, view: Oid | undefined, night: TeamNight): void {
  const state = world.server.refs.get(stateRef);
  if (state === undefined || night.outcome !== 'played') return;
  const tree = treeOfFiles(filesAt(world, state));
  assert.equal(tree.night.pendingPush, null, 'a night that ended leaves nothing pending');
  const memories = new Map([...filesAt(world, view)].filter(([path]) => path.startsWith('memories/')));
  for (const { scope, files } of night.report.phase2.scopes) {
    if (files === null) continue;
    const baseline = new Map([...(tree.baseline.get(scope) ?? [])].filter(([path]) => path !== digestPath));
    assert.deepEqual(baseline, project(memories, scope), `the baseline of ${scope} is what the agent last wrote`);
  }
}

function rowsOf({ world }: History, name: string): Readonly<Record<string, unknown>>[] {
  const text = filesAt(world, world.server.refs.get(stateRef)).get('state.sqlite.json');
  if (text === undefined) return [];
  const table = parseSnapshotText(text).tables.find((one) => one.name === name);
  return (table?.rows ?? [])
    .map(valuesOf)
    .map((values) => Object.fromEntries((table?.columns ?? []).map((column, index) => [column, values[index]])));
}
