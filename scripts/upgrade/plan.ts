import { byBinary, type Oid } from '../shared/files.ts';

/** A file of a tree: what it holds, and whether it is to be run. */
export interface Leaf {
  readonly oid: Oid;
  readonly isExecutable: boolean;
}

export type Leaves = ReadonlyMap<string, Leaf>;

export interface UpgradePlan {
  /** What becomes of a path: the template's file, or null, which removes it. */
  readonly take: ReadonlyMap<string, Leaf | null>;
  /** Changed here and in the template, each in its way: left as they are. */
  readonly conflicts: readonly string[];
  /** Changed here alone. */
  readonly kept: readonly string[];
}

/**
 * Three ways: what the template changed since `base` is taken, where nobody here changed it too. Paths in binary order.
 * @param base the template as this repository was made from it, or took it last.
 */
export function planUpgrade(base: Leaves, ours: Leaves, theirs: Leaves): UpgradePlan {
  const take = new Map<string, Leaf | null>();
  const conflicts: string[] = [];
  const kept: string[] = [];
  const paths = new Set([...base.keys(), ...ours.keys(), ...theirs.keys()]);
  for (const path of [...paths].sort(byBinary)) {
    const [before, here, there] = [base.get(path), ours.get(path), theirs.get(path)];
    if (same(here, there)) continue;
    if (same(before, here)) take.set(path, there ?? null);
    else if (same(before, there)) kept.push(path);
    else conflicts.push(path);
  }
  return { take, conflicts, kept };
}

function same(a: Leaf | undefined, b: Leaf | undefined): boolean {
  return a?.oid === b?.oid && a?.isExecutable === b?.isExecutable;
}

/**
 * Whether a path is the template's to change: never the memory, its state, or what a team has set for itself. The rest
 * of its tree is, files at the top as well.
 */
export function isTemplates(path: string): boolean {
  return !(path.startsWith('memories/') || own.has(path));
}

const own: ReadonlySet<string> = new Set(['state.sqlite.json', '.github/memory.yml', '.github/CODEOWNERS']);
