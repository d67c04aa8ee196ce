import type { Repository, Signature } from '../git/types.ts';
import type { BatchRecord } from '../model/batch-record.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import { MemoryError } from '../shared/errors.ts';
import { commitText } from '../shared/escape.ts';
import type { Files, Oid } from '../shared/files.ts';
import { statePath } from '../state/current.ts';
import type { NightRecord } from '../state/night-record.ts';
import { stateRef, writeStateCommit } from '../state/ref.ts';
import { sizeVerdict, stopBytes } from '../state/snapshot.ts';
import type { FilesByScope } from '../state/tree.ts';
import { isGenerated } from '../workspace/layout.ts';
import { sameBatches } from './batches.ts';
import type { Start } from './start.ts';

/** What a night made, ready to be committed. */
export interface Made {
  readonly runId: string;
  readonly at: EpochSeconds;
  /** Everything below `memories/`. */
  readonly files: Files;
  readonly stateText: string;
  readonly baseline: FilesByScope;
  /** What is under way at the model's server; those of the start where absent. */
  readonly batches?: readonly BatchRecord[];
  readonly author: Signature;
  /** For the commits' subjects: counts and repositories, no words of the memory. */
  readonly sessions: number;
  readonly repositories: readonly string[];
  readonly trailers: Readonly<Record<string, string>>;
  /** Of both commits, where they are no night's. */
  readonly subject?: string;
}

export interface Commits {
  readonly inputs: Oid | null;
  readonly learned: Oid | null;
  readonly state: Oid | null;
  /** Where the branch is now; null where it has no commit. */
  readonly tip: Oid | null;
}

/** Where the night's refs are: in this repository, or on the remote that the team shares. */
export interface Refs {
  /** Whether the state's commits name what they propose as a parent, so that whoever fetches them has both. */
  readonly keepsTips: boolean;
  /**
   * What was forgotten goes: the state is written without parents, so that no earlier one stays reachable, and the
   * published copy anew even where no memory file changes. Of a shared one nothing is pending then: whoever had to finish
   * it elsewhere would have neither its commits nor a state before it.
   */
  readonly forgets?: boolean;
  /** Compare-and-swap; null creates. @throws RefMovedError when somebody else was faster. */
  swap(ref: string, expected: Oid | null, next: Oid): Promise<void>;
  /**
   * After the branch has moved: brings a working tree along, or proposes the change for review.
   * @returns what is recorded of it.
   */
  follow(start: Start, made: Made, tip: Oid): Promise<Pick<NightRecord, 'pullRequest'>>;
}

/** The refs of the repository itself; its working tree follows. */
export function localRefs(repository: Repository): Refs {
  return {
    keepsTips: false,
    swap: (ref, expected, next) => repository.swapRef(ref, expected, next),
    follow: async (start, _made, tip) => {
      await repository.refresh(start.base, tip);
      return { pullRequest: start.night.pullRequest };
    },
  };
}

/**
 * Two commits without a checkout, then the refs in this order: the state with what is pending, the branch, the state
 * without it. Whoever dies in between is continued from exactly there. A night that changes nothing below `memories/`
 * moves the state alone, and one that changes nothing at all moves nothing.
 * @throws RefMovedError when somebody else was faster: start again from what the refs hold now.
 */
export async function commitNight(repository: Repository, refs: Refs, start: Start, made: Made): Promise<Commits> {
  const none = { inputs: null, learned: null, state: start.stateOid, tip: start.base };
  if (sizeVerdict(Buffer.byteLength(made.stateText)) === 'stop') throw tooLarge();
  const changes = changesOf(start.standing, made.files);
  const isQuiet = changes.size === 0 && !(refs.forgets === true && made.stateText !== start.stateText);
  const areBooksSame = made.stateText === start.stateText && sameBatches(batchesOf(start, made), start.night.batches);
  if (isQuiet && areBooksSame && start.night.pendingPush === null && !start.isUnsettled) return none;
  const save = (night: NightRecord, expected: Oid | null, closed = start.closed) =>
    saveState(repository, refs, { ...start, closed }, made, night, expected);
  const settledAt = (tip: Oid | null, night: NightRecord) =>
    recorded({ ...night, pendingPush: null }, start.branch, tip, made);
  if (isQuiet) {
    const { unproposed } = start;
    const followed = unproposed === null || start.afresh ? {} : await refs.follow(start, made, unproposed);
    return { ...none, state: await save({ ...settledAt(start.reached, start.night), ...followed }, start.stateOid) };
  }
  const { inputs, learned, tip } = await writeCommits(repository, start, made, changes);
  const pendingPush = { runId: made.runId, ref: start.branch, oldOid: start.base, tip };
  const night = start.afresh ? { ...start.night, pullRequest: null } : start.night;
  const isOthers = refs.forgets === true && refs.keepsTips;
  const settled = settledAt(tip, night);
  const state = await save(isOthers ? night : { ...settled, pendingPush }, start.stateOid);
  await refs.swap(start.branch, start.base, tip);
  const followed = await refs.follow({ ...start, night }, made, tip);
  const closed = new Map([...start.closed].filter(([number]) => number !== String(followed.pullRequest?.number)));
  return { inputs, learned, tip, state: await save({ ...settled, ...followed }, state, closed) };
}

async function writeCommits(
  repository: Repository,
  start: Start,
  made: Made,
  changes: ReadonlyMap<string, string | null>,
): Promise<{ inputs: Oid; learned: Oid | null; tip: Oid }> {
  const of = (isInput: boolean) => [...changes].filter(([path]) => isGenerated(path) === isInput);
  const common = { author: made.author, at: made.at };
  const inputs = await repository.writeCommit({
    ...common,
    base: start.parents.at(-1) ?? null,
    parents: start.parents,
    changes: new Map([...of(true), [statePath, made.stateText]]),
    message: messageOf(made.subject ?? `memory: inputs of ${count(made.sessions, 'session')}`, made),
  });
  if (of(false).length === 0) return { inputs, learned: null, tip: inputs };
  const learned = await repository.writeCommit({
    ...common,
    base: inputs,
    parents: [inputs],
    changes: new Map(of(false)),
    message: messageOf(made.subject ?? `memory: learned in ${repositoriesOf(made)}`, made),
  });
  return { inputs, learned, tip: learned };
}

async function saveState(
  repository: Repository,
  refs: Refs,
  start: Start,
  made: Made,
  night: NightRecord,
  expected: Oid | null,
): Promise<Oid> {
  const { stateText: text, baseline, at, author } = made;
  const { reviewed, closed } = start;
  const tree = { text, night: { ...night, batches: batchesOf(start, made) }, baseline, reviewed, closed };
  const message = `state: run ${made.runId}\n`;
  const tip = night.recordedTips[start.branch] ?? null;
  // The state before it keeps the same tip, where there is one.
  const isKept = expected !== null && tip === start.night.recordedTips[start.branch];
  const proposed = refs.keepsTips && !isKept ? tip : null;
  const parents = refs.forgets === true ? { expected: null } : { expected, proposed };
  const commit = await writeStateCommit(repository, { ...parents, tree, at, author, message });
  await refs.swap(stateRef, expected, commit);
  return commit;
}

function batchesOf(start: Start, made: Made): readonly BatchRecord[] {
  return made.batches ?? start.night.batches;
}

function recorded(night: NightRecord, branch: string, tip: Oid | null, made: Made): NightRecord {
  return {
    ...night,
    recordedTips: tip === null ? night.recordedTips : { ...night.recordedTips, [branch]: tip },
    lastRun: { runId: made.runId, finishedAt: made.at },
  };
}

function changesOf(before: Files, after: Files): Map<string, string | null> {
  const changes = new Map<string, string | null>();
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const text = after.get(path);
    if (text !== before.get(path)) changes.set(path, text ?? null);
  }
  return changes;
}

function messageOf(subject: string, made: Made): string {
  const trailers = Object.entries(made.trailers).map(([name, value]) => `${name}: ${commitText(value)}`);
  return `${commitText(subject)}\n\n${trailers.join('\n')}\n`;
}

function repositoriesOf({ repositories }: Made): string {
  if (repositories.length === 0) return 'no repository';
  if (repositories.length <= 2) return repositories.join(' and ');
  return count(repositories.length, 'repository', 'repositories');
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

function tooLarge(): MemoryError {
  return new MemoryError(
    `state.sqlite.json would grow over ${stopBytes / 1_000_000} MB; nothing was committed.`,
    'Lower memory.max_unused_days in .github/memory.yml, so that old rows are pruned, and run it again.',
  );
}
