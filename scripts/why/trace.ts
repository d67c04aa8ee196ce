import type { CommitInfo, Repository } from '../git/types.ts';
import type { Oid } from '../shared/files.ts';
import type { MemoryLine } from './lines.ts';
import { claimedRun, type Records } from './records.ts';
import { locate, type Step, stepBack, successionsBetween } from './step.ts';
import { type ReadVersion, readVersions, versionsOf } from './versions.ts';

/** How a wording came, and what brought it to the branch that is asked about. */
export interface Wording {
  readonly line: MemoryLine;
  /** The commit that first held it; where the history is cut off, the oldest that is here. */
  readonly since: CommitInfo;
  readonly how: 'added' | 'reworded' | 'corrected' | 'restored' | 'unknown';
  /** The merges and squashes through which it came, the outermost first. */
  readonly via: readonly Passage[];
  /** Null while it stands in the commit that is asked about. */
  readonly until: { readonly commit: CommitInfo; readonly how: 'reworded' | 'corrected' | 'removed' } | null;
  /** Lines that went in the same commit because this one corrects or joins them. */
  readonly supersedes: readonly MemoryLine[];
}

export interface Passage {
  readonly kind: 'merge' | 'squash';
  readonly commit: CommitInfo;
}

export interface TraceOptions {
  /** Goes on below the commit that added the line, to earlier times at which its words stood. */
  readonly whole: boolean;
}

/** One way into the past that the walk may take: a first-parent history, its newest version read. */
interface Way {
  readonly versions: AsyncGenerator<ReadVersion>;
  readonly version: ReadVersion;
  readonly step: Step;
  readonly passage: Passage | null;
}

/**
 * Follows a line of a commit's file back to the commit that first held its words, and through earlier wordings.
 * Merges are entered on the side that brought the line. A squash or a rebase is entered as well, where the records name
 * a commit of a run that holds the line and is no part of this history.
 * @returns the newest wording first, at least one.
 */
export async function traceBack(
  repository: Repository,
  line: MemoryLine,
  from: Oid,
  records: Records,
  { whole }: TraceOptions,
): Promise<Wording[]> {
  const { path } = line;
  const open = (oid: Oid) => readVersions(repository, path, versionsOf(repository, oid, path));
  const ways = waysInto(repository, path, records, open);
  const isOn = firstParents(repository);
  const wordings: Wording[] = [];
  let versions = open(from);
  let newer = await nextOf(versions);
  let current: { line: MemoryLine; until: Wording['until'] } | null = { line, until: null };
  let passages: Passage[] = [];
  let sought = line;
  const close = async (how: Wording['how'], older: ReadVersion | null) => {
    if (newer === null || current === null) return;
    passages = await stillOpen(passages, newer.commit.oid, isOn);
    const supersedes =
      (how === 'added' || how === 'corrected') && older !== null ? correctedBy(current.line, older, newer) : [];
    wordings.push({ ...current, since: newer.commit, how, via: passages, supersedes });
  };
  while (newer !== null) {
    const older: ReadVersion | null = await nextOf(versions);
    if (current === null) {
      const earlier = older === null ? undefined : holding(sought, older);
      if (older !== null && earlier !== undefined) {
        const last = wordings.pop();
        if (last !== undefined) wordings.push({ ...last, how: last.how === 'added' ? 'restored' : last.how });
        current = { line: earlier, until: { commit: newer.commit, how: 'removed' } };
      }
      newer = older;
      continue;
    }
    const step: Step = older === null ? absent : stepBack(current.line, newer, older);
    const side: Way | null = step.kind === 'same' ? null : await ways(current.line, newer, step);
    const to: Step = side?.step ?? step;
    if (to.kind === 'reworded' || to.kind === 'corrected') {
      await close(to.kind, side === null ? older : null);
      current = { line: to.line, until: { commit: newer.commit, how: to.kind } };
      if (!whole) break;
    } else if (to.kind === 'same') {
      current = { ...current, line: to.line };
    } else {
      await close(newer.end === 'cut' ? 'unknown' : 'added', older);
      if (!whole) break;
      sought = current.line;
      current = null;
    }
    if (side?.passage != null) passages = [...passages, side.passage];
    versions = side?.versions ?? versions;
    newer = side?.version ?? older;
  }
  return wordings;
}

const absent: Step = { kind: 'absent', line: null };

async function nextOf(versions: AsyncGenerator<ReadVersion>): Promise<ReadVersion | null> {
  const { value, done } = await versions.next();
  return done === true ? null : value;
}

/** The line's words in a version, looked for in the source first, so that few versions are parsed. */
function holding(line: MemoryLine, version: ReadVersion): MemoryLine | undefined {
  const first = line.raw.split('\n', 1)[0] ?? '';
  return version.text.includes(first) ? locate(line, version) : undefined;
}

function correctedBy(line: MemoryLine, older: ReadVersion, newer: ReadVersion): MemoryLine[] {
  const is = locate(line, newer);
  return successionsBetween(older, newer, line.kind)
    .filter(({ by }) => by === is)
    .map(({ gone }) => gone);
}

/** How much what a way leads to is the line that is followed. */
const likeness: readonly Step['kind'][] = ['absent', 'corrected', 'reworded', 'same'];

/** Other ways than the first parent's into the past of the commit that brought a line. */
function waysInto(
  repository: Repository,
  path: string,
  records: Records,
  open: (oid: Oid) => AsyncGenerator<ReadVersion>,
): (line: MemoryLine, newer: ReadVersion, first: Step) => Promise<Way | null> {
  const entered = new Set<Oid>();
  const isOn = firstParents(repository);
  return async (line, newer, first) => {
    const { commit } = newer;
    // What this history held since the tip was made has come from it already: then somebody brought the line back.
    const stoodBefore = async (was: MemoryLine, tip: CommitInfo): Promise<boolean> => {
      const [parent] = commit.parents;
      if (parent === undefined) return false;
      for await (const version of open(parent)) {
        if (holding(was, version) !== undefined) return true;
        if (version.commit.at < tip.at) return false;
      }
      return false;
    };
    if (newer.end === 'cut' || entered.has(commit.oid)) return null;
    entered.add(commit.oid);
    const isMerge = commit.parents.length > 1;
    const kind = isMerge ? 'merge' : 'squash';
    const sides = isMerge ? commit.parents.slice(1) : await squashedInto(repository, path, commit, newer.blob, records);
    let best: Way | null = null;
    let least = likeness.indexOf(first.kind);
    for (const oid of sides) {
      const versions = open(oid);
      const version = await nextOf(versions);
      if (version === null) continue;
      const step = stepBack(line, newer, version);
      if (kind === 'squash' && step.kind !== 'absent') {
        const tip = await repository.readCommit(oid);
        if (tip.at > commit.at || (await isOn(oid, commit.oid)) || (await stoodBefore(step.line, tip))) continue;
      }
      const way: Way = { versions, version, step, passage: { kind, commit } };
      if (step.kind === 'same') return way;
      if (likeness.indexOf(step.kind) <= least) continue;
      best = way;
      least = likeness.indexOf(step.kind);
    }
    return best;
  };
}

/** Recorded tips that are looked into for what a squash or a rebase copied. */
const mostTips = 20;

/**
 * Commits of runs that a commit may be a copy of, those with the very same file first, then those of the run that its
 * message names, then the newest. They are here, and no part of its first-parent history.
 */
async function squashedInto(
  repository: Repository,
  path: string,
  commit: CommitInfo,
  blob: Oid | null,
  { tips }: Records,
): Promise<Oid[]> {
  if (tips.some(({ oid }) => oid === commit.oid)) return [];
  const own = new Set((await repository.history(commit.oid, searched)).map(({ oid }) => oid));
  const others = tips.filter(({ oid }) => !own.has(oid));
  const oids = others.map(({ oid }) => oid);
  const blobs = await repository.oidsAt(oids, path);
  const here = others.flatMap(({ oid, runId }, at) => (blobs[at] == null ? [] : [{ oid, runId, blob: blobs[at] }]));
  const claimed = claimedRun(commit);
  const rank = (tip: { runId: string; blob: Oid }) => (tip.blob === blob ? 0 : tip.runId === claimed ? 1 : 2);
  const candidates = here.sort((a, b) => rank(a) - rank(b)).slice(0, mostTips);
  return candidates.map(({ oid }) => oid);
}

/** Passages that a commit still lies behind: those whose own first-parent history does not hold it. */
async function stillOpen(
  passages: readonly Passage[],
  commit: Oid,
  isOn: (from: Oid, commit: Oid) => Promise<boolean>,
): Promise<Passage[]> {
  for (const [at, passage] of passages.entries())
    if (await isOn(passage.commit.oid, commit)) return passages.slice(0, at);
  return [...passages];
}

/** First-parent commits in which a commit is looked for. */
const searched = 20_000;

/** Whether a commit lies on the first-parent history of another, or is it; each history is read once. */
function firstParents(repository: Repository): (from: Oid, commit: Oid) => Promise<boolean> {
  const known = new Map<Oid, ReadonlySet<Oid>>();
  return async (from, commit) => {
    const set = known.get(from) ?? new Set((await repository.history(from, searched)).map(({ oid }) => oid));
    known.set(from, set);
    return set.has(commit);
  };
}
