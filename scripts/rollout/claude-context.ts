import { type Fields, fieldsOf, listOf, textOf } from './fields.ts';
import { isMemoryPath } from './memory-calls.ts';

/** Kinds of attachment by which a program gives the model a text. */
const contexts = new Set([
  'hook_additional_context',
  'hook_success',
  'instructions',
  'nested_memory',
  'relevant_memories',
]);

const marks = ['<commit-to-memory v=', 'MEMORY.md', 'memory_summary.md'].map((mark) => Buffer.from(mark));

/** Whether a line that is skipped for its head could carry memory: then it is parsed for the ids in it. */
export function mayInject(attachment: string, line: Buffer): boolean {
  return contexts.has(attachment) && marks.some((mark) => line.includes(mark));
}

export interface Context {
  readonly text: string;
  /** The text is a file of memory as a whole, not one that memory may stand in. */
  readonly isMemory: boolean;
}

/** What an attachment puts into the session: a hook's words, or files with their contents. */
export function contextsOf(attachment: Fields): Context[] {
  if (!contexts.has(textOf(attachment.type) ?? '')) return [];
  const files = [attachment, attachment.content, ...listOf(attachment.files), ...listOf(attachment.memories)];
  return files.flatMap((file) => {
    const { path, content } = fieldsOf(file);
    const isMemory = isMemoryPath(textOf(path) ?? '');
    const texts = typeof content === 'string' ? [content] : listOf(content).filter((text) => typeof text === 'string');
    return texts.map((text) => ({ text, isMemory }));
  });
}
