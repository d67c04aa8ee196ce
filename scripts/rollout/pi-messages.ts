import { callWith, typedCommand } from './calls.ts';
import { type Fields, fieldsOf, integerOf, listOf, textOf } from './fields.ts';
import { splitWords } from './harness.ts';
import { interrupted, type Part } from './items.ts';

/**
 * What a message says, by its role; a block keeps its place in it. Null for a role that is not known.
 * @param id of its entry, for a command that has no id of its own.
 */
export function messageParts(message: Fields, id: string): (Part | null)[] | null {
  switch (message.role) {
    case 'user':
      return splitWords(contentText(message.content)).map((words) => ({ ...words, kind: 'text' }));
    case 'assistant':
      return assistantParts(message);
    case 'toolResult':
      return [outputIn(message)];
    case 'bashExecution':
      return typedParts(message, `shell:${id}`);
    case 'custom':
    case 'hookMessage':
      return harness(contentText(message.content));
    case 'branchSummary':
    case 'compactionSummary':
      return harness(textOf(message.summary) ?? '');
    default:
      return null;
  }
}

/** Whether the model went on after this message, or was stopped in it: then its words are no final ones. */
export function isOnTheWay(message: Fields): boolean {
  const stop = textOf(message.stopReason);
  return stop === 'aborted' || stop === 'error' || listOf(message.content).some(isCall);
}

/** What an extension, a compaction or the summary of a branch puts in. */
export function harness(text: string): Part[] {
  return [{ who: 'harness', kind: 'text', text }];
}

/** The texts of a message's content, images named. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map(fieldsOf)
    .map((block) =>
      block.type === 'image' ? '[image omitted]' : block.type === 'text' ? (textOf(block.text) ?? '') : '',
    )
    .filter((text) => text !== '')
    .join('\n');
}

function assistantParts({ content, stopReason }: Fields): (Part | null)[] {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content);
  const parts = blocks.map((block) => blockPart(fieldsOf(block)));
  return stopReason === 'aborted' ? [...parts, interrupted] : parts;
}

function blockPart(block: Fields): Part | null {
  if (block.type === 'text') return { who: 'commentary', kind: 'text', text: textOf(block.text) ?? '' };
  if (!isCall(block)) return null;
  const call = textOf(block.id);
  return { ...callWith(textOf(block.name) ?? 'unknown', block.arguments), ...(call === null ? {} : { call }) };
}

function isCall(block: unknown): boolean {
  return fieldsOf(block).type === 'toolCall';
}

/** An output; the line with which a shell's ends becomes its exit status. */
function outputIn(message: Fields): Part {
  const said = contentText(message.content);
  const tool = textOf(message.toolName);
  const call = textOf(message.toolCallId);
  const ending = tool === 'bash' && message.isError === true ? shellEnding.exec(said.slice(-200)) : null;
  const failed = message.isError === true ? 1 : message.isError === false ? 0 : undefined;
  const exit = ending === null ? failed : Number(ending[1]);
  return {
    who: 'tool',
    kind: 'output',
    text: ending === null ? said : said.slice(0, said.length - ending[0].length),
    ...(tool === null ? {} : { tool }),
    ...(call === null ? {} : { call }),
    ...(exit === undefined ? {} : { exit }),
  };
}

/** A command that the person ran with `!` or `!!`, and what it printed. */
function typedParts(message: Fields, call: string): Part[] {
  const exit = integerOf(message.exitCode) ?? (message.cancelled === true ? 1 : undefined);
  return [
    typedCommand(textOf(message.command) ?? '', call),
    {
      who: 'tool',
      kind: 'output',
      text: textOf(message.output) ?? '',
      call,
      ...(exit === undefined ? {} : { exit }),
    },
  ];
}

const shellEnding = /\n*Command exited with code (-?\d{1,10})\s{0,8}$/;
