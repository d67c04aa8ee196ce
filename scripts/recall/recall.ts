import { memoryClose, memoryOpen } from '../rollout/marker.ts';
import { contextText } from '../shared/escape.ts';
import { normaliseLine } from '../workspace/lines.ts';
import { type Entry, type MemoryTexts, repeats, summaryEntries } from './entries.ts';
import { blocksFor, type OwnBullet, ranked } from './own-blocks.ts';
import { type Budget, bulletPlacer, layOut, type Placed, placeSummary, roomFor } from './page.ts';
import { rulesOfUse } from './rules.ts';

/** Below the 10,000 characters at which agents cut what a hook tells them. */
export const sessionBudget: Budget = { characters: 9_500, tokens: 2_500 };

export interface Session {
  /** Ids of all its remotes, origin first; none: only what holds everywhere. */
  readonly repositories: readonly string[];
  /** Where it can open the memory files. */
  readonly folder: string;
  /** A sentence for it about this copy of the memory, such as its age; '' where there is nothing to say. */
  readonly notice: string;
}

export interface LeftOut {
  readonly entry: Entry;
  readonly why: 'no room' | 'in the summary' | 'another repository';
}

export interface Recalled {
  /** For the session's context; '' where the memory holds nothing for it. */
  readonly text: string;
  /** In the order of the text. */
  readonly chosen: readonly Entry[];
  /** Of the summary and of the blocks that apply; other repositories' blocks are not in it (`otherBlocks`). */
  readonly leftOut: readonly LeftOut[];
}

/**
 * What a session is given of a memory: rules of use, the summary, then its own repositories' lines (preferences, failures,
 * knowledge), then those that hold everywhere. Entries are whole or left out. Before the lines the summary may take half of
 * the room, so that what holds everywhere does not crowd out the repository at hand; what they leave is the summary's.
 */
export function recall(memory: MemoryTexts, session: Session, budget: Budget = sessionBudget): Recalled {
  const summary = summaryEntries(memory.summary, session.repositories);
  const said = new Set(summary.own.map(({ text }) => normaliseLine(text)));
  const bullets = ranked(blocksFor(memory.groups, session.repositories));
  const place = bulletPlacer();
  const isRepeated = (placed: Placed): boolean => placed.isShared && repeats(placed.entry, said);
  const lines = summary.own.map((entry) => placeSummary(entry, memory.summary.trimEnd().split('\n').length));
  const frame = (body: string) => framed(body, session, summary.others.length);
  const room = roomFor(budget, frame(''));
  const first = new Set(room.take(lines, 0.5));
  const taken = room.take(placedOf(bullets, place, isRepeated), 1);
  const last = new Set(
    room.take(
      lines.filter((placed) => !first.has(placed)),
      1,
    ),
  );
  const given = [...lines.filter((placed) => first.has(placed) || last.has(placed)), ...taken.sort(byPlace)];
  const text = given.length === 0 ? '' : frame(layOut(given));
  return {
    text,
    chosen: given.map(({ entry }) => entry),
    get leftOut() {
      const entries = new Set(given.map(({ entry }) => `${entry.file}:${entry.line}`));
      const isLeft = ({ entry }: Placed): boolean => !entries.has(`${entry.file}:${entry.line}`);
      const [repeated, others] = parted(bullets.map(place).filter(isLeft), isRepeated);
      return [
        ...[...lines.filter(isLeft), ...others].map(because('no room')),
        ...repeated.map(because('in the summary')),
        ...summary.others.map((entry): LeftOut => ({ entry, why: 'another repository' })),
      ];
    },
  };
}

/** One by one: of thousands a few dozen are asked for. */
function* placedOf(
  bullets: readonly OwnBullet[],
  place: (bullet: OwnBullet) => Placed,
  isRepeated: (placed: Placed) => boolean,
): Generator<Placed> {
  for (const bullet of bullets) {
    const placed = place(bullet);
    if (!isRepeated(placed)) yield placed;
  }
}

/** A block's lines together, the session's own blocks first. Sorting is stable: within a kind the rank stays. */
function byPlace(a: Placed, b: Placed): number {
  return Number(a.isShared) - Number(b.isShared) || a.blockLine - b.blockLine;
}

function framed(body: string, { folder, notice }: Session, others: number): string {
  const parts = [
    rulesOfUse(contextText(folder)),
    ...(notice === '' ? [] : [notice]),
    ...(others === 0 ? [] : [`Repositories with lines of their own in MEMORY.md that are not given here: ${others}.`]),
  ];
  return `${memoryOpen}\n${parts.join('\n\n')}\n${body}${memoryClose}`;
}

function parted<T>(values: readonly T[], belongs: (value: T) => boolean): [T[], T[]] {
  const [taken, others]: [T[], T[]] = [[], []];
  for (const value of values) (belongs(value) ? taken : others).push(value);
  return [taken, others];
}

function because(why: LeftOut['why']): (placed: Placed) => LeftOut {
  return ({ entry }) => ({ entry, why });
}
