import { callWith } from './calls.ts';
import { messageText } from './claude-words.ts';
import { type Fields, fieldsOf, listOf, textOf } from './fields.ts';
import type { Part } from './items.ts';

/** A `tool_use` block: the command of a shell, the arguments as JSON of anything else. */
export function callOf(block: Fields): Part {
  const call = textOf(block.id);
  return { ...callWith(textOf(block.name) ?? 'unknown', block.input), ...(call === null ? {} : { call }) };
}

/**
 * A `tool_result` block. Its exit status is the number after `Exit code`, else 1 for an error and 0 where the program
 * says that there was none.
 */
export function outputOf(block: Fields): Part {
  const text = messageText(block.content);
  const call = textOf(block.tool_use_id);
  const code = block.is_error === true ? /^(?:Error: )?Exit code (\d{1,10})(?:\n|$)/.exec(text) : null;
  const exit = block.is_error === true ? Number(code?.[1] ?? 1) : block.is_error === false ? 0 : undefined;
  return {
    who: 'tool',
    kind: 'output',
    text: code === null ? text : text.slice(code[0].length),
    ...(call === null ? {} : { call }),
    ...(exit === undefined ? {} : { exit }),
  };
}

/** The name of the file in `tool-results/` that an output was moved to, or null. */
export function persistedName(text: string, toolUseResult: unknown): string | null {
  if (!text.includes('<persisted-output>')) return null;
  const path =
    textOf(fieldsOf(toolUseResult).persistedOutputPath) ?? /saved to: ([^\n]{1,2000})/.exec(text)?.[1]?.trim() ?? '';
  const name = path.split(/[\\/]/).at(-1) ?? '';
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}\.(?:txt|json)$/.test(name) ? name : null;
}

/** Whether a message's content calls a tool. */
export function callsTool(content: unknown): boolean {
  return listOf(content).some((block) => fieldsOf(block).type === 'tool_use');
}
