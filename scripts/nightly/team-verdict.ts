import type { Files } from '../shared/files.ts';
import { holdScope, releaseHold } from '../state/scopes.ts';
import type { FilesByScope } from '../state/tree.ts';
import { everywhere } from '../workspace/layout.ts';
import { project, scopesOf } from '../workspace/scope.ts';
import type { StandingFacts } from './standing.ts';
import type { Start } from './start.ts';
import type { Place, Verdict } from './team-place.ts';

/**
 * What the verdict does to the books: merged is reviewed; closed falls back to what was reviewed, and is held; what was
 * closed and is open again, or merged late, is as if it had never been closed.
 */
export function afterVerdict(start: Start, verdict: Verdict, facts: StandingFacts, place: Place): Start {
  const proposed = facts.proposedRuns.filter((run) => !facts.mergedRuns.has(run));
  const key = String(start.night.pullRequest?.number ?? proposed.at(-1) ?? 'unnumbered');
  const wasClosed = start.closed.get(key);
  switch (verdict.from) {
    case 'default':
      return start;
    case 'branch':
      return wasClosed === undefined ? start : reopened(start, key, wasClosed);
    case 'merged': {
      const current = wasClosed === undefined ? start : reopened(start, key, wasClosed);
      const reviewed = place.mergedPart === null ? current.baseline : baselineFrom(place.mergedPart);
      return { ...current, reviewed };
    }
    case 'closed':
      return wasClosed === undefined ? shut(start, key, proposed) : start;
  }
}

/** What every scope's agent left, where nobody recorded it: the scope's part of the tree. */
export function baselineFrom(memories: Files): FilesByScope {
  return new Map([...scopesOf(memories), everywhere].map((scope) => [scope, project(memories, scope)]));
}

/** Only the last one can come back: the next proposal takes its branch. */
function shut(start: Start, key: string, proposed: readonly string[]): Start {
  const scopes = [...start.baseline].filter(([scope, files]) => differs(files, start.reviewed.get(scope)));
  for (const [scope] of scopes) if (scope !== everywhere) holdScope(start.state, scope, proposed);
  const baseline = new Map(start.baseline);
  for (const [scope] of scopes) {
    const reviewed = start.reviewed.get(scope);
    if (reviewed === undefined) baseline.delete(scope);
    else baseline.set(scope, reviewed);
  }
  return { ...start, baseline, closed: new Map([[key, new Map(scopes)]]) };
}

function reopened(start: Start, key: string, scopes: FilesByScope): Start {
  for (const [scope] of scopes) releaseHold(start.state, scope);
  return {
    ...start,
    baseline: new Map([...start.baseline, ...scopes]),
    closed: new Map([...start.closed].filter(([other]) => other !== key)),
    reopened: key,
  };
}

function differs(a: Files, b: Files | undefined): boolean {
  return b === undefined || a.size !== b.size || [...a].some(([path, text]) => b.get(path) !== text);
}
