import { truncateMiddle } from '../../shared/tokens.ts';
import { linesOf } from '../search/lines.ts';
import { readArguments } from './arguments.ts';
import { limits } from './limits.ts';
import type { MemoryFolder } from './memory-folder.ts';
import { ToolError } from './tool-error.ts';

/** Lines of one file, cut in the middle where they have more than 20,000 tokens. */
export async function read(folder: MemoryFolder, given: unknown) {
  const args = readArguments('read', given, ['path', 'line_offset', 'max_lines']);
  const from = args.count('line_offset', 1) ?? 1;
  const most = args.count('max_lines', 1);
  const file = folder.find(args.text('path'));
  if (file.kind === 'folder') throw new ToolError(`“${file.path}” is a folder.`, 'List it, and read one of its files.');
  const text = await folder.textOf(file);
  if (text === null)
    throw new ToolError(
      file.bytes > limits.fileBytes
        ? `“${file.path}” has more than ${limits.fileBytes} bytes.`
        : `“${file.path}” is no UTF-8 text.`,
      'It cannot be read here.',
    );
  const lines = linesOf(text);
  if (from > Math.max(1, lines.length))
    throw new ToolError(
      `“${file.path}” has ${lines.length} lines, so none at ${from}.`,
      'Give a line_offset within the file.',
    );
  const end = most === undefined ? lines.length : Math.min(lines.length, from - 1 + most);
  const wanted = lines.slice(from - 1, end).join('\n');
  const content = truncateMiddle(wanted, { tokens: limits.readTokens });
  return {
    path: file.path,
    start_line_number: from,
    content,
    truncated: content !== wanted || end < lines.length,
  };
}
