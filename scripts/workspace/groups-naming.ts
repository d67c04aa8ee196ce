import { type BlockSource, blockSources, groupMark } from './handbook.ts';
import type { Scope } from './layout.ts';

/**
 * The task groups that may speak for one of the scopes, in order, by their text alone; `scopeOf` has the last word. The
 * rest of the handbook is searched as bytes: to make text of a large one and cut it takes most of a session's start.
 * @param handbook UTF-8, without a byte order mark.
 */
export function groupsNaming(handbook: Buffer, scopes: readonly Scope[]): Pick<BlockSource, 'raw' | 'line'>[] {
  const text = handbook.toString('latin1');
  const naming = lineNaming(scopes);
  const found: Pick<BlockSource, 'raw' | 'line'>[] = [];
  let [line, counted] = [1, 0];
  for (let match = naming.exec(text); match !== null; match = naming.exec(text)) {
    const start = text.lastIndexOf(`\n${groupMark}`, match.index) + 1;
    const next = text.indexOf(`\n${groupMark}`, match.index) + 1;
    const end = next === 0 ? text.length : next;
    naming.lastIndex = end;
    if (!text.startsWith(groupMark, start)) continue;
    line += text.slice(counted, start).match(/\n/g)?.length ?? 0;
    counted = start;
    found.push({ raw: firstBlock(handbook.toString('utf8', start, end)), line });
  }
  return found;
}

/** The line in its bytes, one character each. Around a name may be space of any kind, which beyond ASCII has several bytes. */
function lineNaming(scopes: readonly Scope[]): RegExp {
  const bytes = scopes.map((scope) => Buffer.from(scope, 'utf8').toString('latin1'));
  const names = bytes.map((scope) => scope.replace(/[\\^$.*+?()[\]{}|-]/g, '\\$&')).join('|');
  const space = '[\\t\\v\\f \\x80-\\xff]*';
  return new RegExp(`applies_to:[ \\t]*repo=${space}(?:${names})${space}(?:[;\\r\\n]|$)`, 'g');
}

/** Behind a task group may stand a person's own sections. */
function firstBlock(group: string): string {
  const isWhole = !group.includes('\n# ') && !group.includes('\n#\t');
  return isWhole ? group : (blockSources(group)[0]?.raw ?? group);
}
