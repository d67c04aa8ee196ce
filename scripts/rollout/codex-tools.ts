import { parsedJson } from '../shared/json.ts';
import { contentText } from './codex-words.ts';
import { type Fields, fieldsOf, integerOf, isFields, jsonOf, listOf, textOf } from './fields.ts';
import type { Part } from './items.ts';
import { commandLine, doesOf, patchedFiles } from './tools.ts';

/** A call, whatever form its version gave it; null for a record that is no call. */
export function callOf(payload: Fields): Part | null {
  const ids = idsOf(payload);
  switch (payload.type) {
    case 'function_call':
      return { ...functionCall(nameOf(payload), textOf(payload.arguments) ?? ''), ...ids };
    case 'custom_tool_call':
      return { ...customCall(nameOf(payload), textOf(payload.input) ?? ''), ...ids };
    case 'local_shell_call':
      return { ...shellCall('local_shell', listOf(fieldsOf(payload.action).command)), ...ids };
    case 'web_search_call':
    case 'tool_search_call': {
      const tool = payload.type === 'web_search_call' ? 'web_search' : 'tool_search';
      const asked = payload.action ?? payload.arguments ?? {};
      const query = textOf(fieldsOf(asked).query);
      return { who: 'tool', kind: 'call', tool, text: query ?? asText(asked), ...ids };
    }
    default:
      return null;
  }
}

/** An output; its header (chunk, wall time, exit code) becomes `exit`. Null for a record that is no output. */
export function outputOf(payload: Fields): Part | null {
  const type = String(payload.type);
  if (type !== 'function_call_output' && type !== 'custom_tool_call_output' && type !== 'tool_search_output')
    return null;
  return { who: 'tool', kind: 'output', ...outputText(payload.output ?? payload.tools ?? ''), ...idsOf(payload) };
}

/**
 * The person's answers to a `request_user_input` call, with their questions; null where no answer says anything.
 * @param questions the call's arguments.
 */
export function answersOf(output: unknown, questions: Fields): string | null {
  const answers = fieldsOf(fieldsOf(typeof output === 'string' ? parsedJson(output) : output).answers);
  const asked = new Map(
    listOf(questions.questions).map((entry) => [fieldsOf(entry).id, textOf(fieldsOf(entry).question)]),
  );
  const lines = Object.entries(answers).flatMap(([id, answer]) => {
    const said = listOf(fieldsOf(answer).answers ?? answer).filter(
      (text): text is string => typeof text === 'string' && text.trim() !== '',
    );
    return said.length === 0 ? [] : [`Asked: ${asked.get(id) ?? id}\nAnswer: ${said.join('; ')}`];
  });
  return lines.length === 0 ? null : lines.join('\n');
}

/** A call's arguments as an object; empty where they are no JSON. */
export function argumentsOf(payload: Fields): Fields {
  return fieldsOf(parsedJson(textOf(payload.arguments) ?? ''));
}

function idsOf(payload: Fields): { call?: string; id?: string } {
  const call = textOf(payload.call_id) ?? (payload.type === 'local_shell_call' ? textOf(payload.id) : null);
  const id = textOf(payload.id);
  return { ...(call === null ? {} : { call }), ...(id === null ? {} : { id }) };
}

function nameOf(payload: Fields): string {
  const name = textOf(payload.name) ?? 'unknown';
  const namespace = textOf(payload.namespace);
  return namespace === null || name.startsWith(namespace) ? name : `${namespace.replace(/_+$/, '')}__${name}`;
}

function functionCall(tool: string, text: string): Part {
  const given = fieldsOf(parsedJson(text));
  const command = given.cmd ?? given.command;
  if (Array.isArray(command)) return shellCall(tool, command);
  if (typeof command === 'string' && doesOf(tool) === 'shell') return shellText(tool, command);
  return { ...customCall(tool, textOf(given.input) !== null && tool === 'apply_patch' ? String(given.input) : text) };
}

function customCall(tool: string, text: string): Part {
  const does = doesOf(tool);
  return { who: 'tool', kind: 'call', tool, does, text, ...(does === 'edit' ? { files: patchedFiles(text) } : {}) };
}

function shellCall(tool: string, argv: readonly unknown[]): Part {
  if (argv[0] === 'apply_patch' && typeof argv[1] === 'string') return customCall('apply_patch', argv[1]);
  return shellText(tool, commandLine(argv));
}

function shellText(tool: string, command: string): Part {
  if (/^\s{0,20}apply_patch\s{0,5}<</.test(command)) return customCall('apply_patch', command);
  return { who: 'tool', kind: 'call', tool, does: 'shell', text: command };
}

function outputText(output: unknown): { text: string; exit?: number } {
  if (typeof output !== 'string')
    return isFields(output) ? structured(output) : { text: contentText(output) || asText(output) };
  if (output.startsWith('{"output":')) {
    const given = parsedJson(output);
    if (isFields(given)) return structured(given);
  }
  return withoutHeader(output);
}

/** `{"output":"…","metadata":{"exit_code":1}}` of older versions, `{content, success}` of others. */
function structured(output: Fields): { text: string; exit?: number } {
  const body = output.output ?? output.content ?? output;
  const { text, exit } = typeof body === 'string' ? withoutHeader(body) : { text: contentText(body) || asText(body) };
  const code = integerOf(fieldsOf(output.metadata).exit_code) ?? exit ?? (output.success === false ? 1 : undefined);
  return { text, ...(code === undefined ? {} : { exit: code }) };
}

const header =
  /^(?:Exit code: (-?\d{1,10})\n)?(?:Chunk ID: [^\n]{0,100}\n)?(?:Wall time: [^\n]{0,100}\n)?(?:Process exited with code (-?\d{1,10})\n)?(?:Original token count: \d{1,15}\n)?(?:Total output lines: \d{1,15}\n)?Output:\n/;
const failures =
  /^(?:apply_patch verification failed|exec_command failed|failed to parse function arguments|execution error|unsupported call|command timed out|Error: )/;

function withoutHeader(output: string): { text: string; exit?: number } {
  const match = header.exec(output);
  const code = match?.[1] ?? match?.[2];
  if (match !== null)
    return { text: output.slice(match[0].length), ...(code === undefined ? {} : { exit: Number(code) }) };
  return { text: output, ...(failures.test(output) ? { exit: 1 } : {}) };
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : jsonOf(value);
}
