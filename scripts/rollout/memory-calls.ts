import type { Item } from './types.ts';

/** Our tools, under the names that agents give to a server’s tools (README calls it `team-memory`); and Codex's own for its memories. */
const ownTool = /(?:commit[-_]to|team)[-_]memory|^memories[._]{1,2}(list|read|search)/i;

/** Files that hold memory: ours (also in a clone elsewhere), Codex's, Claude Code's. */
const memoryPath =
  /(?:memory_summary|raw_memories)\.md|rollout_summaries\/|(?:memories|memory)[\\/]+MEMORY\.md|memories[\\/]+skills[\\/]|\.codex[\\/]+memories|projects[\\/]+[^\\/\s]{1,255}[\\/]+memory[\\/]/;

const readers = new Set(['read', 'search', 'shell', 'other', 'mcp']);
const searches = /(?:^|[\s;&|(])(?:rg|grep|egrep|ag|ack|findstr|Select-String)\s/;

export function isOwnTool(tool: string | undefined): boolean {
  return ownTool.test(tool ?? '');
}

export function isMemoryPath(path: string): boolean {
  return memoryPath.test(path);
}

/** A call whose output shows memory: one of our tools, or a file of memory that is read or searched. */
export function isMemoryCall(item: Item): boolean {
  if (item.kind !== 'call' || item.call === undefined) return false;
  if (isOwnTool(item.tool)) return true;
  if (!readers.has(item.does ?? 'other')) return false;
  return isMemoryPath(item.text) || (item.files ?? []).some(isMemoryPath);
}

/** Whether a call looks for words, instead of reading on. */
export function isSearch({ does, tool, text }: Item): boolean {
  return does === 'search' || /search$/i.test(tool ?? '') || (does === 'shell' && searches.test(text));
}
