import { pairLines } from '../publish/pairs.ts';
import { indexTexts } from '../workspace/near.ts';
import type { MemoryLine } from './lines.ts';

/** What a step needs of a version of the file. */
export interface Text {
  readonly text: string;
  lines(): readonly MemoryLine[];
}

/**
 * What a line is in the version beside its own. `same`: its words stand there, if in another place. `corrected`: it took
 * the place of another line, with an item of that line's evidence.
 */
export type Step =
  | { readonly kind: 'same' | 'reworded' | 'corrected'; readonly line: MemoryLine }
  | { readonly kind: 'absent'; readonly line: null };

/** What a line was in the version before. */
export function stepBack(line: MemoryLine, newer: Text, older: Text): Step {
  if (standsAlike(line, newer, older)) return { kind: 'same', line };
  const is = locate(line, newer);
  const pair = pairsBetween(older, newer, line.kind).same.find((each) => each.is === is);
  if (pair !== undefined) return stepTo(pair.was, pair.reworded);
  const correction = successionsBetween(older, newer, line.kind).find(
    ({ by, link }) => by === is && link === 'evidence',
  );
  return correction === undefined ? stepTo(undefined) : { kind: 'corrected', line: correction.gone };
}

/** What a line became in the version after; one that was corrected is absent there. */
export function stepForward(line: MemoryLine, older: Text, newer: Text): Step {
  if (standsAlike(line, older, newer)) return { kind: 'same', line };
  const was = locate(line, older);
  const pair = pairsBetween(older, newer, line.kind).same.find((each) => each.was === was);
  return stepTo(pair?.is, pair?.reworded);
}

/** A line that went, and the one that took its place; the link says why we think so. */
export interface Succession {
  readonly gone: MemoryLine;
  readonly by: MemoryLine;
  readonly link: 'evidence' | 'words';
}

/**
 * Which lines were corrected or merged between two versions: a line that is new, or gained evidence, rests on an item of
 * the one that went or says that it supersedes one; else a new one of the same scope has many of its words.
 */
export function successionsBetween(older: Text, newer: Text, kind: MemoryLine['kind']): Succession[] {
  const { same, gone, fresh } = pairsBetween(older, newer, kind);
  if (gone.length === 0) return [];
  const heirs = new Map<string, MemoryLine>();
  for (const line of fresh) for (const item of line.items) heirs.set(item, line);
  for (const { was, is } of same)
    for (const item of is.items) if (!was.items.includes(item) && !heirs.has(item)) heirs.set(item, is);
  // What a line says of itself outweighs what its evidence lets one guess.
  for (const line of [...fresh, ...same.map(({ is }) => is)]) for (const item of line.supersedes) heirs.set(item, line);
  const near = indexTexts(
    fresh.map(({ words }) => words),
    leastShare,
  );
  return gone.flatMap((line): Succession[] => {
    const heir = line.items.flatMap((item) => heirs.get(item) ?? [])[0];
    if (heir !== undefined) return [{ gone: line, by: heir, link: 'evidence' }];
    const alike = near.of(line.words).flatMap((at) => fresh[at] ?? []);
    const by = alike.find(({ scope }) => scope === line.scope);
    return by === undefined ? [] : [{ gone: line, by, link: 'words' }];
  });
}

/** The line as it stands in a version that holds it; undefined where it does not. */
export function locate(line: MemoryLine, { lines }: Pick<Text, 'lines'>): MemoryLine | undefined {
  const known = lines().filter(({ hash, kind }) => hash === line.hash && kind === line.kind);
  return (
    known.find(({ place, raw }) => place === line.place && raw === line.raw) ??
    known.find(({ place }) => place === line.place) ??
    known.find(({ scope }) => scope === line.scope) ??
    known[0]
  );
}

/** Words two lines share, of all that either has, for the new one to be taken for a correction of the one that went. */
const leastShare = 0.25;

/** Nearly every version: the source stands in both equally often, so nothing has to be parsed. */
function standsAlike({ raw }: MemoryLine, one: Text, other: Text): boolean {
  const count = timesIn(other.text, raw);
  return count > 0 && count === timesIn(one.text, raw);
}

/** How often whole lines stand in a text. */
function timesIn(text: string, raw: string): number {
  let times = 0;
  for (let at = text.indexOf(raw); at !== -1; at = text.indexOf(raw, at + raw.length)) {
    const end = at + raw.length;
    if ((at === 0 || text[at - 1] === '\n') && (end === text.length || text[end] === '\n')) times += 1;
  }
  return times;
}

function pairsBetween(older: Text, newer: Text, kind: MemoryLine['kind']) {
  const of = ({ lines }: Text) => lines().filter((line) => line.kind === kind);
  return pairLines(of(older), of(newer));
}

function stepTo(line: MemoryLine | undefined, reworded = false): Step {
  return line === undefined ? { kind: 'absent', line: null } : { kind: reworded ? 'reworded' : 'same', line };
}
