import { type Fields, fieldsOf, jsonOf, textOf } from './fields.ts';
import type { Part } from './items.ts';
import { doesOf, patchedFiles } from './tools.ts';

/**
 * A tool's call: the command line of a shell, the patch of an edit that has one, the arguments as JSON of anything else.
 * @param given its arguments: an object, or the text that some tools take.
 */
export function callWith(tool: string, given: unknown): Part {
  const does = doesOf(tool);
  if (typeof given === 'string')
    return { who: 'tool', kind: 'call', tool, text: given, ...(does === 'edit' ? { files: patchedFiles(given) } : {}) };
  const input = fieldsOf(given);
  const command = does === 'shell' ? textOf(input.command) : null;
  return {
    who: 'tool',
    kind: 'call',
    tool,
    text: command ?? jsonOf(given ?? {}),
    ...(does === 'edit' ? { files: editedFiles(input) } : {}),
  };
}

/** A command that a person ran themselves, outside the conversation. */
export function typedCommand(command: string, call: string): Part {
  return { who: 'human', kind: 'call', tool: 'user_shell', does: 'shell', text: command, call };
}

/** What a person answered to the questions of a tool: `Asked: …`, `Answer: …`; null where no answer says anything. */
export function answered(pairs: readonly (readonly [question: string, answer: string])[]): string | null {
  const lines = pairs.flatMap(([question, answer]) =>
    answer.trim() === '' ? [] : [`Asked: ${question}\nAnswer: ${answer}`],
  );
  return lines.length === 0 ? null : lines.join('\n');
}

function editedFiles(input: Fields): string[] {
  const named = textOf(input.file_path) ?? textOf(input.filePath) ?? textOf(input.notebook_path) ?? textOf(input.path);
  if (named !== null) return [named];
  return patchedFiles(textOf(input.patchText) ?? textOf(input.patch) ?? textOf(input.input) ?? '');
}
