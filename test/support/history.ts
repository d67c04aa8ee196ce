import type { Oid } from '../../scripts/shared/files.ts';
import { handbookPath, memorySummaryPath } from '../../scripts/workspace/layout.ts';
import { lineHash } from '../../scripts/workspace/lines.ts';
import { commitTo, mergeTip, resetTo, tipOf, type Way, withLines } from './history-people.ts';
import {
  type Accident,
  aWorld,
  branchRef,
  collect,
  filesAt,
  later,
  mainRef,
  repositories,
  stateRef,
  type World,
} from './history-world.ts';
import { type Lots, lotsFrom, someWords } from './lots.ts';
import { aClone, ancestors } from './memory-git.ts';

/** What somebody said in a session; the word at its start is in no other. */
export interface Saying {
  readonly word: string;
  readonly repo: string;
  readonly at: number;
}

/** A team's world, and what people know that they did in it. */
export interface History {
  readonly seed: number;
  readonly world: World;
  readonly lots: Lots;
  readonly isRestless: boolean;
  readonly steps: string[];
  readonly sayings: Saying[];
  /** Words of lines that people took away, or rejected. */
  readonly removed: Set<string>;
  /** Those of them that a verdict on a pull request took away, by its number. */
  readonly rejected: Map<number, Set<string>>;
  /** Taken away on the branch, and seen by no night yet: closing the pull request drops it. */
  readonly unseen: Set<string>;
  /** Hashes of all lines that a person ever wrote. */
  readonly written: Set<string>;
  /** Lines of people without evidence, which nobody but people may take away. */
  readonly notes: Set<string>;
  /** Words that may be there or not: the state that knew them was lost, or the branch was no longer under review. */
  readonly excused: Set<string>;
  /** Where nights left the branch. */
  readonly tips: Oid[];
  /** What the default branch was before its last merge or revert. */
  undo: { readonly tip: Oid; readonly before: Oid } | null;
  closed: { readonly number: number; readonly tip: Oid | null } | null;
}

export async function aHistory(seed: number): Promise<History> {
  const lots = lotsFrom(seed);
  return {
    seed,
    world: await aWorld(),
    lots,
    isRestless: seed % 3 === 0,
    steps: [],
    sayings: [],
    removed: new Set(),
    rejected: new Map(),
    unseen: new Set(),
    written: new Set(),
    notes: new Set(),
    excused: new Set(),
    tips: [],
    undo: null,
    closed: null,
  };
}

/** One thing that people do. Where it cannot be done now, nothing happens. */
export async function peopleStep(history: History, step = history.lots.of(weighted)): Promise<void> {
  history.steps.push(step);
  await doings[step](history);
}

export function anAccident({ lots }: History): Accident | null {
  if (!lots.percent(45)) return null;
  return { at: 1 + lots.below(22), kind: lots.of(['dies before', 'dies after', 'people']) };
}

/** Words of sayings that stand in the handbook or summary of a commit. */
export function wordsAt({ world, sayings }: History, commit: Oid | null | undefined): Set<string> {
  const text = textAt(world, commit);
  return new Set(sayings.filter(({ word }) => text.includes(word)).map(({ word }) => word));
}

export function notesAt({ world, notes }: History, commit: Oid | null | undefined): string[] {
  const lines = new Set(textAt(world, commit).split('\n'));
  return [...notes].filter((note) => lines.has(note));
}

export function openPull({ world }: History) {
  return world.forge.pulls.find(({ state }) => state === 'open') ?? null;
}

const doings = {
  says: async (history: History) => {
    const { world, lots, sayings } = history;
    const word = `word${sayings.length}x`;
    const repo = lots.of(repositories);
    sayings.push({ word, repo, at: world.now });
    await collect(world, `${word} ${someWords(lots, 7)}`, repo);
  },
  'writes on main': (history: History) => writes(history, mainRef),
  'writes on the branch': (history: History) => writes(history, branchRef),
  'removes on main': (history: History) => removes(history, mainRef),
  'removes on the branch': (history: History) => removes(history, branchRef),
  'rewords on main': (history: History) => rewords(history, mainRef),
  'rewords on the branch': (history: History) => rewords(history, branchRef),
  'works elsewhere': (history: History) =>
    commitTo(history.world, mainRef, () => new Map([['README.md', `${someWords(history.lots, 5)}\n`]])),
  merges: async (history: History) => {
    const tip = tipOf(history.world);
    const pull = openPull(history);
    if (tip !== null && pull !== null) await merges(history, pull.number, tip);
  },
  'merges an older tip': async (history: History) => {
    const { world, tips } = history;
    const tip = tipOf(world);
    const pull = openPull(history);
    if (tip === null || pull === null) return;
    const merged = ancestors(world.server.objects, world.server.refs.get(mainRef) ?? '');
    const mine = ancestors(world.server.objects, tip);
    const older = tips.findLast((one) => one !== tip && mine.has(one) && !merged.has(one));
    if (older !== undefined) await merges(history, pull.number, older);
  },
  closes: async (history: History) => closes(history, []),
  rejects: async (history: History) => closes(history, ['memory:reject']),
  reopens: async (history: History) => {
    const { world, closed, removed, rejected } = history;
    if (closed === null || openPull(history) !== null || closed.tip !== tipOf(world)) return;
    world.forge.change(closed.number, { state: 'open', labels: [] });
    for (const word of rejected.get(closed.number) ?? []) removed.delete(word);
    history.closed = null;
  },
  'reverts on main': async (history: History) => {
    const { world, removed, excused, undo } = history;
    const tip = world.server.refs.get(mainRef);
    if (undo === null || tip !== undo.tip) return;
    const then = wordsAt(history, undo.before);
    for (const word of wordsAt(history, tip)) if (!then.has(word)) (isLost(history) ? excused : removed).add(word);
    for (const word of then) removed.delete(word);
    learnPersons(history, tip, undo.before);
    await resetTo(world, undo.before);
    history.undo = { tip: world.server.refs.get(mainRef) ?? '', before: tip };
  },
  'deletes the branch': async (history: History) => {
    const { world } = history;
    const pull = openPull(history);
    if (pull !== null) closes(history, []);
    world.server.refs.delete(branchRef);
    history.closed = null;
  },
  'sets the branch back': async (history: History) => {
    const { world, tips, removed, unseen, excused } = history;
    const tip = tipOf(world);
    const older = tips.at(-2);
    if (tip === null || openPull(history) === null || older === undefined || tip !== tips.at(-1)) return;
    if (!ancestors(world.server.objects, tip).has(older)) return;
    const standing = new Set([...wordsAt(history, older), ...wordsAt(history, world.server.refs.get(mainRef))]);
    for (const word of wordsAt(history, tip)) {
      if (standing.has(word) || removed.has(word)) continue;
      if (isLost(history)) excused.add(word);
      else {
        removed.add(word);
        unseen.add(word);
      }
    }
    learnPersons(history, tip, older);
    for (const word of wordsAt(history, older)) removed.delete(word);
    world.server.refs.set(branchRef, older);
  },
  'loses the state': async (history: History) => losesState(history),
  'lets a day pass': async ({ world }: History) => later(world, 1),
  'lets five weeks pass': async ({ world }: History) => later(world, 35),
};

type Step = keyof typeof doings;

const weights: Readonly<Record<Step, number>> = {
  says: 9,
  'writes on main': 2,
  'writes on the branch': 3,
  'removes on main': 2,
  'removes on the branch': 2,
  'rewords on main': 1,
  'rewords on the branch': 1,
  'works elsewhere': 1,
  merges: 5,
  'merges an older tip': 2,
  closes: 2,
  rejects: 2,
  reopens: 2,
  'reverts on main': 2,
  'deletes the branch': 1,
  'sets the branch back': 1,
  'loses the state': 1,
  'lets a day pass': 1,
  'lets five weeks pass': 1,
};

const weighted = Object.entries(weights).flatMap(([step, weight]) =>
  Array.from({ length: weight }, () => step as Step),
) as [Step, ...Step[]];

async function writes(history: History, ref: string): Promise<void> {
  const { world, lots, notes, written } = history;
  const note = `- ${someWords(lots, 8)}`;
  await commitTo(world, ref, (files) => {
    const text = files.get(handbookPath);
    if (text === undefined) return new Map();
    notes.add(note);
    written.add(lineHash(note));
    return new Map([[handbookPath, text.replace(/^## User preferences$/m, `## User preferences\n${note}`)]]);
  });
}

async function removes(history: History, ref: string): Promise<void> {
  const { world, lots, removed, unseen } = history;
  const standing = [...wordsAt(history, world.server.refs.get(ref))];
  const word = standing[lots.below(standing.length)];
  if (word === undefined) return;
  await commitTo(world, ref, (files) => withLines(files, (line) => (line.includes(word) ? null : line)));
  if ((ref === branchRef && openPull(history) === null) || isLost(history)) {
    history.excused.add(word);
    return;
  }
  if (ref === mainRef) unseen.delete(word);
  else if (!removed.has(word)) unseen.add(word);
  removed.add(word);
}

async function rewords(history: History, ref: string): Promise<void> {
  const { world, lots, written, removed } = history;
  const standing = [...wordsAt(history, world.server.refs.get(ref))];
  const word = standing[lots.below(standing.length)];
  if (word === undefined) return;
  removed.delete(word);
  const more = someWords(lots, 1);
  await commitTo(world, ref, (files) =>
    withLines(files, (line) => {
      if (!line.includes(word)) return line;
      const next = line.replace(word, `${word} ${more}`);
      written.add(lineHash(next));
      return next;
    }),
  );
}

async function merges(history: History, number: number, tip: Oid): Promise<void> {
  const { world, lots, unseen } = history;
  const before = world.server.refs.get(mainRef) ?? '';
  const way: Way = lots.of(['merge', 'squash', 'rebase', 'fast-forward']);
  history.steps.push(way);
  const merged = await mergeTip(world, tip, way);
  world.forge.change(number, { state: 'merged', headOid: tip, mergeOid: merged });
  if (tip === tipOf(world) && lots.percent(60)) world.server.refs.delete(branchRef);
  history.undo = { tip: merged, before };
  const isOnward = ancestors(world.server.objects, tip).has(history.tips.at(-1) ?? '');
  if (!isOnward) leavesOpen(history);
  unseen.clear();
}

function closes(history: History, labels: readonly string[]): void {
  const { world, removed, rejected } = history;
  const pull = openPull(history);
  if (pull === null) return;
  const tip = tipOf(world);
  world.forge.change(pull.number, { state: 'closed', labels, headOid: tip });
  leavesOpen(history);
  history.closed = { number: pull.number, tip };
  if (labels.length === 0 || isLost(history)) return;
  const main = wordsAt(history, world.server.refs.get(mainRef));
  const words = [...wordsAt(history, tip)].filter((word) => !main.has(word) && !removed.has(word));
  rejected.set(pull.number, new Set(words));
  for (const word of words) removed.add(word);
}

/** No night has seen that it was taken away on the branch, and now none can tell. */
function leavesOpen({ removed, unseen, excused }: History): void {
  for (const word of unseen) {
    removed.delete(word);
    excused.add(word);
  }
  unseen.clear();
}

function losesState(history: History): void {
  const { world, removed, sayings, excused, unseen } = history;
  if (!world.server.refs.delete(stateRef)) return;
  world.machines.splice(0, 2, aClone(world.server, 'one'), aClone(world.server, 'two'));
  world.paid.clear();
  removed.clear();
  unseen.clear();
  for (const { word } of sayings) excused.add(word);
}

/** No night has run since the state was lost: what people took away from what cannot be told. */
function isLost({ world }: History): boolean {
  return !world.server.refs.has(stateRef);
}

/** What is put back by hand is people's from now on. */
function learnPersons({ world, written, notes }: History, from: Oid, to: Oid): void {
  const before = new Set(textAt(world, from).split('\n'));
  for (const line of textAt(world, to).split('\n'))
    if (!before.has(line) && !notes.has(line)) written.add(lineHash(line));
}

function textAt(world: World, commit: Oid | null | undefined): string {
  const files = filesAt(world, commit);
  return [handbookPath, memorySummaryPath].map((path) => files.get(path) ?? '').join('\n');
}
