import { readArguments } from './arguments.ts';
import { offsetOf, pageOf } from './cursor.ts';
import { limits } from './limits.ts';
import type { MemoryFolder } from './memory-folder.ts';

/** One level of the memory, in the order of paths. A path to a file lists that file. */
export async function list(folder: MemoryFolder, given: unknown) {
  const args = readArguments('list', given, ['path', 'cursor', 'max_results']);
  const offset = offsetOf(args.optionalText('cursor'));
  const most = Math.min(args.count('max_results', 1) ?? limits.listed, limits.listed);
  const place = folder.find(args.optionalText('path'));
  const entries = place.kind === 'file' ? [place] : folder.entriesOf(place);
  const page = pageOf(entries, offset, most);
  return {
    path: place.path,
    entries: page.entries.map(({ path, kind }) => ({ path, entry_type: kind === 'file' ? 'file' : 'directory' })),
    next_cursor: page.nextCursor,
    truncated: page.nextCursor !== null,
  };
}
