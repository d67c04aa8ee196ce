import { type Fields, fieldsOf, listOf, textOf } from './fields.ts';
import { splitWords } from './harness.ts';
import type { Part } from './items.ts';

/** Names of commands that set the program up: what is typed after them tells nothing about the work. */
const setUpCommands = new Set(['model', 'effort', 'config', 'login', 'logout', 'add-dir', 'resume', 'theme', 'fast']);

/**
 * What a record in the user's place says, tool results left out. `promptSource` (2.1) marks what a person sent; before
 * it, texts are told apart by what they begin with.
 */
export function userWords(record: Fields): Part[] {
  const text = messageText(fieldsOf(record.message).content);
  if (text.trim() === '') return [];
  if (record.isMeta === true || record.isCompactSummary === true || record.rowSource === 'harness')
    return harness(text);
  const origin = textOf(fieldsOf(record.origin).kind);
  if (origin !== null && origin !== 'human') return harness(text);
  if (text.startsWith('[Request interrupted by user') || text.startsWith('This session is being continued from'))
    return harness(text);
  if (textOf(record.planContent) !== null && text.startsWith('Implement the following plan:'))
    return [{ who: 'other_agent', kind: 'text', text }];
  return bashWords(text) ?? commandWords(text) ?? splitWords(text).map((words) => ({ ...words, kind: 'text' }));
}

/** A message that the person typed while the agent worked: it exists only as this attachment. Else null. */
export function queuedWords(attachment: Fields): Part[] | null {
  if (attachment.type !== 'queued_command') return null;
  const text = messageText(attachment.prompt);
  const origin = textOf(fieldsOf(attachment.origin).kind);
  const isHuman =
    attachment.humanTurn === true ||
    origin === 'human' ||
    (attachment.humanTurn === undefined && origin === null && (attachment.commandMode ?? 'prompt') === 'prompt');
  if (text.trim() === '') return [];
  if (!isHuman) return harness(text);
  return bashWords(text) ?? splitWords(text).map((words) => ({ ...words, kind: 'text' }));
}

/** The texts of a message's content, media named; thinking and tool blocks give nothing. */
export function messageText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((block) => blockText(fieldsOf(block)))
    .filter((text) => text !== '')
    .join('\n');
}

/** What the person wrote when refusing a tool, or null. */
export function refusalWords(result: string): string | null {
  const match = /(?:^|\n)[^\n]{0,400}the user (?:said|provided the following reason[^:\n]{0,60}):[ \t]*\n?/.exec(
    result,
  );
  if (match === null) return null;
  const said =
    result
      .slice(match.index + match[0].length)
      .split(/\n\nNote: The user's next message/)[0]
      ?.trim() ?? '';
  return said === '' ? null : said;
}

/** The person's answers to the model's questions, with these; or null. */
export function answerWords(toolUseResult: unknown): string | null {
  const answers = Object.entries(fieldsOf(fieldsOf(toolUseResult).answers));
  const lines = answers.flatMap(([question, answer]) =>
    typeof answer === 'string' && answer.trim() !== '' ? [`Asked: ${question}\nAnswer: ${answer}`] : [],
  );
  return lines.length === 0 ? null : lines.join('\n');
}

function harness(text: string): Part[] {
  return [{ who: 'harness', kind: 'text', text }];
}

function blockText(block: Fields): string {
  if (block.type === 'text') return textOf(block.text) ?? '';
  if (block.type === 'image') return '[image omitted]';
  if (block.type === 'document') return '[document omitted]';
  return '';
}

/** `!` commands: the person typed the command, the program printed the rest. */
function bashWords(text: string): Part[] | null {
  const input = inside(text, 'bash-input');
  if (input !== null && text.trimStart().startsWith('<bash-input>'))
    return [{ who: 'human', kind: 'call', tool: 'user_shell', does: 'shell', text: input }];
  if (!/^\s{0,20}<bash-std(?:out|err)>/.test(text)) return null;
  const printed = [inside(text, 'bash-stdout'), inside(text, 'bash-stderr')].filter(
    (part) => part !== null && part !== '',
  );
  return [{ who: 'tool', kind: 'output', tool: 'user_shell', does: 'shell', text: printed.join('\n') }];
}

/** A slash command: what the person typed after its name is theirs, the rest is the program's. */
function commandWords(text: string): Part[] | null {
  if (!/^\s{0,20}<command-(?:name|message|args)>/.test(text)) return null;
  const name = (inside(text, 'command-name') ?? '').trim().replace(/^\//, '');
  const typed = (inside(text, 'command-args') ?? '').trim();
  if (typed === '' || setUpCommands.has(name)) return harness(`/${name} ${typed}`.trim());
  return [{ who: 'human', kind: 'text', text: `/${name} ${typed}` }];
}

function inside(text: string, tag: string): string | null {
  const start = text.indexOf(`<${tag}>`);
  const end = start === -1 ? -1 : text.indexOf(`</${tag}>`, start);
  return end === -1 ? null : text.slice(start + tag.length + 2, end);
}
