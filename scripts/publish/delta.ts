import { byBinary, type Files } from '../shared/files.ts';
import { splitHeader } from '../workspace/inputs.ts';
import { isGenerated, type Scope, skillOf, stemOf } from '../workspace/layout.ts';
import { skillScope } from '../workspace/skill.ts';
import { type DeltaFacts, emptyScope, type ScopeDelta } from './delta-types.ts';
import { reasonsGone } from './gone.ts';
import { type Line, linesIn } from './lines.ts';
import { pairLines } from './pairs.ts';

export interface Delta {
  /** Those where something is to be told, in binary order; '' are sections of people that name no repository. */
  readonly scopes: readonly ScopeDelta[];
  /** Every path below `memories/` that differs, in binary order. */
  readonly files: readonly FileChange[];
}

export interface FileChange {
  readonly path: string;
  readonly change: 'added' | 'changed' | 'removed';
  /** Made by code from sessions: nothing for a reviewer. */
  readonly generated: boolean;
}

/**
 * What a reviewer is asked to accept, counted: the bullets of the handbook, by scope. A bullet that stands elsewhere
 * has moved, one with other evidence is confirmed, one in other words has changed; none of them is learned.
 */
export function deltaOf(before: Files, after: Files, facts: DeltaFacts): Delta {
  const old = linesIn(before);
  const now = linesIn(after);
  const pairs = pairLines(bulletsOf(old), bulletsOf(now));
  const scopes = new Map<Scope, ScopeDelta>();
  const scopeOf = (name: Scope) => {
    const known = scopes.get(name) ?? emptyScope(name);
    scopes.set(name, known);
    return known;
  };
  for (const { was, is, reworded } of pairs.same) {
    const scope = scopeOf(is.scope);
    if (reworded) scope.changed += 1;
    if (was.place !== is.place) scope.moved += 1;
    else if (!reworded && gains(was, is)) scope.confirmed += 1;
    if (reworded && is.unverified) scope.unverified += 1;
  }
  for (const line of pairs.fresh) {
    const scope = scopeOf(line.scope);
    scope.learned += 1;
    if (facts.wasRemoved?.(line.scope, line.hash) === true) scope.relearned = (scope.relearned ?? 0) + 1;
    if (line.unverified) scope.unverified += 1;
  }
  for (const [line, reason] of reasonsGone(pairs, threadsIn(after), facts)) scopeOf(line.scope)[reason] += 1;
  countPersons(old, now, facts, scopeOf);
  for (const [path, change] of changesBetween(before, after)) {
    if (skillOf(path) !== null)
      scopeOf(skillScope(after.get(path) ?? before.get(path) ?? '') ?? '').skills[change] += 1;
  }
  return {
    scopes: [...scopes.values()].filter(isWorthTelling).sort((a, b) => byBinary(a.scope, b.scope)),
    files: filesOf(before, after),
  };
}

function bulletsOf(lines: readonly Line[]): Line[] {
  return lines.filter(({ kind }) => kind === 'bullet');
}

function gains(was: Line, is: Line): boolean {
  const known = new Set(was.items);
  return is.items.some((item) => !known.has(item));
}

/** Short ids of the threads whose inputs stand there. */
function threadsIn(files: Files): Set<string> {
  const threads = new Set<string>();
  for (const [path, text] of files) if (stemOf(path) !== null) threads.add(splitHeader(text).header.thread ?? '');
  return threads;
}

function countPersons(
  old: readonly Line[],
  now: readonly Line[],
  facts: DeltaFacts,
  scopeOf: (name: Scope) => ScopeDelta,
): void {
  const standing = new Set(now.map(({ hash }) => hash));
  for (const line of now) if (facts.isPersonLine(line.scope, line.hash)) scopeOf(line.scope).persons.kept += 1;
  for (const line of old)
    if (!standing.has(line.hash) && facts.isPersonLine(line.scope, line.hash)) scopeOf(line.scope).persons.gone += 1;
}

function isWorthTelling({ scope, skills, persons, ...counts }: ScopeDelta): boolean {
  return [...Object.values(counts), ...Object.values(skills), persons.gone].some((count) => count > 0);
}

function filesOf(before: Files, after: Files): FileChange[] {
  return changesBetween(before, after).map(([path, change]) => ({ path, change, generated: isGenerated(path) }));
}

function changesBetween(before: Files, after: Files): [string, FileChange['change']][] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((path) => before.get(path) !== after.get(path))
    .sort(byBinary)
    .map((path) => [path, !before.has(path) ? 'added' : after.has(path) ? 'changed' : 'removed']);
}
