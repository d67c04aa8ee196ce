import { byBinary, type Files } from '../shared/files.ts';
import { parseHandbook, scopeOf } from './handbook.ts';
import { everywhere, handbookPath, isGenerated, memorySummaryPath, type Scope, skillOf } from './layout.ts';
import { mergeTexts } from './merge-texts.ts';
import { skillScope } from './skill.ts';

export interface MergedMemories {
  readonly files: Files;
  /** Scopes that both sides changed, in binary order: what we learned in them was learned from another start. */
  readonly touched: readonly Scope[];
}

/**
 * Merges what people did elsewhere into what we have, line by line; people's work wins wherever both changed the same.
 * Generated files are ours. Any other file is taken whole, people's where they changed it.
 * @param base the memory files where both sides were last equal.
 * @param ours what the pipeline has on its branch.
 * @param theirs what people have elsewhere now.
 */
export function mergeMemories(base: Files, ours: Files, theirs: Files): MergedMemories {
  const merged = new Map<string, string>();
  for (const path of [...new Set([...ours.keys(), ...theirs.keys()])].sort(byBinary)) {
    const isPeoples = !isGenerated(path) && base.get(path) !== theirs.get(path);
    const text = (isPeoples ? theirs : ours).get(path);
    if (text !== undefined) merged.set(path, text);
  }
  for (const [path, text] of mergeTexts(base, ours, theirs)) {
    if (text === null) merged.delete(path);
    else merged.set(path, text);
  }
  const files = new Map([...merged].sort(([a], [b]) => byBinary(a, b)));
  return {
    files,
    touched: touchedScopes(partsByScope(base), partsByScope(ours), partsByScope(theirs), partsByScope(files)),
  };
}

type Parts = ReadonlyMap<Scope, string>;

/** What each scope has in files that are not generated, as one text to compare. */
function partsByScope(files: Files): Parts {
  const parts = new Map<Scope, string>();
  const add = (scope: Scope, path: string, text: string) =>
    parts.set(scope, `${parts.get(scope) ?? ''}\0${path}\0${text.trimEnd()}`);
  for (const [path, text] of [...files].sort(([a], [b]) => byBinary(a, b))) {
    if (path === handbookPath)
      for (const block of parseHandbook(text).blocks) add(scopeOf(block) ?? '', path, block.raw);
    if (path === memorySummaryPath) add(everywhere, path, text);
    if (skillOf(path) !== null) add(skillScope(text) ?? '', path, text);
  }
  parts.delete('');
  return parts;
}

function touchedScopes(base: Parts, ours: Parts, theirs: Parts, merged: Parts): Scope[] {
  const scopes = new Set([base, ours, theirs].flatMap((parts) => [...parts.keys()]));
  return [...scopes].sort(byBinary).filter((scope) => {
    const [before, mine, people, now] = [base, ours, theirs, merged].map((parts) => parts.get(scope));
    if (mine === people) return false;
    return (before !== mine && before !== people) || (now !== mine && now !== people);
  });
}
