import { entryOf } from '../../workspace/extension.ts';
import { parseHandbook, scopeOf } from '../../workspace/handbook.ts';
import { rawSections, splitHeader } from '../../workspace/inputs.ts';
import {
  everywhere,
  handbookPath,
  memorySummaryPath,
  rawMemoriesPath,
  type Scope,
  skillOf,
  stemOf,
} from '../../workspace/layout.ts';
import { skillScope } from '../../workspace/skill.ts';
import { summaryHeadings, summarySections } from '../../workspace/summary-sections.ts';

/** Lines `from` up to, without, `to`, counted from 0, and whose they are; null: nobody's in particular. */
export interface Owned {
  readonly from: number;
  readonly to: number;
  readonly scope: Scope | null;
}

/** Whose the lines of a memory file are, by exact repository id. @param path relative to `memories/`. */
export function ownersOf(path: string, text: string): readonly Owned[] {
  const place = `memories/${path}`;
  if (place === handbookPath)
    return following(parseHandbook(text).blocks.map((block) => ({ line: block.line, scope: scopeOf(block) })));
  if (place === rawMemoriesPath) return following(rawStarts(text));
  if (place === memorySummaryPath) return indexLines(text);
  if (stemOf(place) !== null) return [whole(splitHeader(text).header.repo)];
  if (skillOf(place) !== null) return [whole(skillScope(text) ?? undefined)];
  const entry = entryOf(place, text);
  return entry === null ? [] : [whole(entry.scope)];
}

/** Whether a line may be shown to a session of these repositories: what is theirs, everybody's or nobody's. */
export function isVisible(scope: Scope | null, repositories: readonly Scope[] | null): boolean {
  return repositories === null || scope === null || scope === everywhere || repositories.includes(scope);
}

/** Line → its owner. */
export function ownerAt(owners: readonly Owned[]): (line: number) => Scope | null {
  let last = 0;
  return (line) => {
    if (line < (owners[last]?.from ?? 0)) last = 0;
    while (last < owners.length && line >= (owners[last]?.to ?? 0)) last += 1;
    const owner = owners[last];
    return owner !== undefined && line >= owner.from ? owner.scope : null;
  };
}

/** Each part reaches to the next one's heading; `line` counts from 1. */
function following(starts: readonly { readonly line: number; readonly scope: Scope | null }[]): Owned[] {
  return starts.map(({ line, scope }, index) => ({
    from: line - 1,
    to: (starts[index + 1]?.line ?? Number.POSITIVE_INFINITY) - 1,
    scope,
  }));
}

function rawStarts(text: string): { line: number; scope: Scope | null }[] {
  const sections = rawSections(text);
  let line = text.slice(0, text.indexOf(sections[0]?.raw ?? '')).split('\n').length;
  return sections.map(({ header, raw }) => {
    const start = { line, scope: header.repo ?? null };
    line += raw.split('\n').length - 1;
    return start;
  });
}

/** The summary's index has one line a repository: `- host/owner/name: …`. */
function indexLines(text: string): Owned[] {
  return summarySections(text)
    .filter(({ heading }) => heading === summaryHeadings.contents)
    .flatMap(({ lines }) =>
      lines.flatMap(({ text: entry, line }) => {
        const scope = /^- (\S+?)(?::? |:?$)/.exec(entry)?.[1];
        return scope === undefined ? [] : [{ from: line - 1, to: line, scope }];
      }),
    );
}

function whole(scope: Scope | undefined): Owned {
  return { from: 0, to: Number.POSITIVE_INFINITY, scope: scope === undefined || scope === '' ? null : scope };
}
