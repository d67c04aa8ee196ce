import type { Evidence } from '../shared/evidence.ts';
import type { Files } from '../shared/files.ts';
import { readBlockLines } from './block-lines.ts';
import { parseHandbook } from './handbook.ts';
import { everywhere, handbookPath, memorySummaryPath, type Scope, skillOf } from './layout.ts';
import { lineHash, normaliseLine, type Unit, unitsOf } from './lines.ts';
import { indexTexts } from './near.ts';
import { project } from './scope.ts';
import { itemsOf } from './shrink.ts';

/** What people did to a scope's memory since a baseline. */
export interface PersonsChanges {
  /** Lines that are theirs now: new ones and reworded ones; for a skill that they wrote or changed its path. */
  readonly added: readonly { readonly hash: string; readonly text: string; readonly evidence: readonly Evidence[] }[];
  readonly removed: readonly RemovedLine[];
}

/** A bullet with evidence that stood there and stands nowhere today, neither moved nor reworded. */
export interface RemovedLine {
  readonly hash: string;
  readonly text: string;
  readonly evidence: readonly Evidence[];
  /** The part of its evidence that no standing line (of `*`: no other of `*`) cites: what a tombstone is for. */
  readonly uncited: readonly Evidence[];
}

/**
 * Compares the recorded tree with today's, so that squash, amend and rebase hide nothing.
 * @param baseline the whole tree, or the scope's projection, as the last night left it.
 * @param people the whole tree as people left it: a line that moved to another scope is not removed.
 */
export function personsChanges(baseline: Files, people: Files, scope: Scope): PersonsChanges {
  const before = unitsIn(project(baseline, scope));
  const now = unitsIn(project(people, scope));
  const standing = unitsIn(people);
  // What holds everywhere is promoted from bullets that go on citing the same: only its own lines speak for it.
  const citing = scope === everywhere ? now : standing;
  const known = new Set(before.map(({ hash }) => hash));
  const added = new Map(
    now.filter(({ hash }) => !known.has(hash)).map(({ hash, raw, evidence }) => [hash, { hash, text: raw, evidence }]),
  );
  for (const path of personsSkills(baseline, people, scope))
    added.set(lineHash(path), { hash: lineHash(path), text: path, evidence: [] });
  return {
    added: [...added.values()],
    removed: removedLines(before, standing, citing, known),
  };
}

function personsSkills(baseline: Files, people: Files, scope: Scope): string[] {
  return [...project(people, scope)]
    .filter(([path, text]) => skillOf(path) !== null && baseline.get(path) !== text)
    .map(([path]) => path);
}

function removedLines(
  before: readonly Unit[],
  standing: readonly Unit[],
  citing: readonly Unit[],
  known: ReadonlySet<string>,
): RemovedLine[] {
  const hashes = new Set(standing.map(({ hash }) => hash));
  const gone = before.filter(({ evidence, hash }) => evidence.length > 0 && !hashes.has(hash));
  if (gone.length === 0) return [];
  const near = indexTexts(standing.map(({ raw }) => normaliseLine(raw)));
  const cited = new Set(citing.flatMap(({ evidence }) => itemsOf(evidence)));
  const reworded = new Set(standing.filter(({ hash }) => !known.has(hash)).map(({ evidence }) => keyOf(evidence)));
  return gone
    .filter(({ raw, evidence }) => !reworded.has(keyOf(evidence)) && near.of(normaliseLine(raw)).length === 0)
    .map(({ hash, raw, evidence }) => ({ hash, text: raw, evidence, uncited: without(evidence, cited) }));
}

function without(evidence: readonly Evidence[], cited: ReadonlySet<string>): Evidence[] {
  return evidence
    .map(({ thread, items }) => ({ thread, items: items.filter((item) => !cited.has(`${thread}@${item}`)) }))
    .filter(({ items }) => items.length > 0);
}

function keyOf(evidence: readonly Evidence[]): string {
  return itemsOf(evidence).sort().join(' ');
}

function unitsIn(files: Files): Unit[] {
  const units = parseHandbook(files.get(handbookPath) ?? '').blocks.flatMap(unitsOf);
  const summary = files.get(memorySummaryPath);
  if (summary === undefined) return units;
  return [...units, ...unitsOf({ lines: readBlockLines(summary), line: 1 }).filter(({ kind }) => kind !== 'heading')];
}
