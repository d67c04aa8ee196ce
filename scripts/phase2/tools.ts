import type { ToolCall, ToolSpec } from '../model/types.ts';
import { byBinary, type Files } from '../shared/files.ts';
import { sizeLimits, skillOf } from '../workspace/layout.ts';

/** Bounds of the consolidation agent's tools. */
export const toolLimits = {
  /** Characters that one answer shows. */
  answerCharacters: 60_000,
  /** Matches that one search shows. */
  matches: 200,
} as const;

/** The six tools, and nothing else to reach: the projection of one scope. */
export const toolSpecs: readonly ToolSpec[] = [
  tool('list', 'Lists the files with their size in lines.', {}),
  tool('search', 'Finds lines that contain a text (case is ignored); answers path:line: text.', {
    text: 'what to look for, verbatim',
    path: 'a file or folder to look in; an empty string looks everywhere',
  }),
  tool('read', 'Reads lines of a file, each with its number.', {
    path: 'the file',
    from: { type: 'integer', description: 'first line, counted from 1' },
    lines: { type: 'integer', description: 'how many lines, at most 2000' },
  }),
  tool('write', 'Writes a whole file, new or in place of the old one.', { path: 'the file', text: 'all of its text' }),
  tool('edit', 'Replaces one passage, which must occur exactly once in the file.', {
    path: 'the file',
    old: 'the passage as it stands, with enough around it to be unique',
    new: 'what takes its place; an empty string removes it',
  }),
  tool('delete', 'Deletes a skill that nothing supports any more.', { path: 'the file' }),
];

/** The agent's desk: reads everything of the projection, writes the handbook and skills only. */
export interface Desk {
  readonly files: Files;
  /** Carries out one call; a mistake of the agent's is an answer that says what is wrong. */
  use(call: ToolCall): string;
}

/** @param mayWrite whether the scope's agent may write the path. */
export function openDesk(files: Files, mayWrite: (path: string) => boolean): Desk {
  const current = new Map(files);
  return {
    files: current,
    use: (call) => {
      const input = readArguments(call);
      if (typeof input === 'string') return input;
      const answer = answerTo(call.name, input, current, mayWrite);
      return answer.length <= toolLimits.answerCharacters
        ? answer
        : `${answer.slice(0, toolLimits.answerCharacters)}\n[answer cut: ask for fewer lines or a narrower search]`;
    },
  };
}

type Input = Readonly<Record<string, string | number>>;

function answerTo(name: string, input: Input, files: Map<string, string>, mayWrite: MayWrite): string {
  const path = String(input.path ?? '');
  switch (name) {
    case 'list':
      return (
        [...files]
          .sort(([a], [b]) => byBinary(a, b))
          .map(([file, text]) => `${file} (${linesOf(text).length} lines)`)
          .join('\n') || '(no files)'
      );
    case 'search':
      return search(files, String(input.text), path);
    case 'read':
      return read(files.get(path), path, Number(input.from), Number(input.lines));
    case 'write':
      return write(files, path, String(input.text), mayWrite);
    case 'edit':
      return edit(files, path, String(input.old), String(input.new), mayWrite);
    default:
      return remove(files, path);
  }
}

function search(files: Map<string, string>, text: string, path: string): string {
  if (text.trim() === '') return 'Give a text to look for.';
  const wanted = text.toLowerCase();
  const found: string[] = [];
  for (const [file, content] of [...files].sort(([a], [b]) => byBinary(a, b))) {
    if (path !== '' && file !== path && !file.startsWith(`${path.replace(/\/$/, '')}/`)) continue;
    for (const [index, line] of linesOf(content).entries()) {
      if (!line.toLowerCase().includes(wanted)) continue;
      if (found.length === toolLimits.matches) return `${found.join('\n')}\n[more matches left out]`;
      found.push(`${file}:${index + 1}: ${line.slice(0, 400)}`);
    }
  }
  return found.join('\n') || 'No match.';
}

function read(text: string | undefined, path: string, from: number, count: number): string {
  if (text === undefined) return noFile(path);
  const lines = linesOf(text);
  if (from < 1 || from > Math.max(1, lines.length)) return `${path} has ${lines.length} lines.`;
  return lines
    .slice(from - 1, from - 1 + Math.min(2_000, Math.max(1, count)))
    .map((line, index) => `${from + index}\t${line}`)
    .join('\n');
}

function write(files: Map<string, string>, path: string, text: string, mayWrite: MayWrite): string {
  const refusal = refuse(path, text, mayWrite);
  if (refusal !== null) return refusal;
  files.set(path, text.endsWith('\n') ? text : `${text}\n`);
  return `Wrote ${path}.`;
}

function edit(files: Map<string, string>, path: string, old: string, replacement: string, mayWrite: MayWrite): string {
  const text = files.get(path);
  if (text === undefined) return noFile(path);
  if (old === '') return 'Give the passage that is to be replaced.';
  const at = text.indexOf(old);
  if (at === -1) return `The passage does not occur in ${path}. Read the file again and copy it exactly.`;
  if (text.indexOf(old, at + 1) !== -1)
    return `The passage occurs more than once in ${path}. Include more of what is around it.`;
  return write(files, path, text.slice(0, at) + replacement + text.slice(at + old.length), mayWrite);
}

function remove(files: Map<string, string>, path: string): string {
  if (!files.has(path)) return noFile(path);
  if (skillOf(path) === null) return 'Only a skill can be deleted; edit the handbook instead.';
  files.delete(path);
  return `Deleted ${path}.`;
}

type MayWrite = (path: string) => boolean;

function refuse(path: string, text: string, mayWrite: MayWrite): string | null {
  if (!mayWrite(path)) return `${path} is not yours to write: the request says which files are.`;
  if (Buffer.byteLength(text) > sizeLimits.fileBytes)
    return `That is more than ${sizeLimits.fileBytes} bytes: shorten it.`;
  return null;
}

function noFile(path: string): string {
  return `There is no file “${path}”. Use list to see what there is.`;
}

/** Lines without the empty one after a final newline. */
function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function readArguments(call: ToolCall): Input | string {
  const spec = toolSpecs.find((candidate) => candidate.name === call.name);
  if (spec === undefined) {
    return `There is no tool “${call.name}”. The tools are ${toolSpecs.map(({ name }) => name).join(', ')}.`;
  }
  const properties = spec.parameters.properties as Record<string, { type: string }>;
  let value: unknown;
  try {
    value = JSON.parse(call.arguments === '' ? '{}' : call.arguments);
  } catch (error) {
    return `The arguments are no JSON: ${error instanceof Error ? error.message : ''}`;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'The arguments must be a JSON object.';
  for (const [key, { type }] of Object.entries(properties)) {
    const given: unknown = (value as Record<string, unknown>)[key];
    if (type === 'integer' ? !Number.isInteger(given) : typeof given !== 'string')
      return `“${key}” must be ${type === 'integer' ? 'a whole number' : 'a string'}.`;
  }
  const extra = Object.keys(value).find((key) => !(key in properties));
  return extra === undefined ? (value as Input) : `“${extra}” is no argument of ${call.name}.`;
}

function tool(
  name: string,
  description: string,
  properties: Readonly<Record<string, string | { type: string; description: string }>>,
): ToolSpec {
  return {
    name,
    description,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, value]) => [
          key,
          typeof value === 'string' ? { type: 'string', description: value } : value,
        ]),
      ),
      required: Object.keys(properties),
      additionalProperties: false,
    },
  };
}
