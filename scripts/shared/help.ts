import { type CommandSpec, commandLine, type Flag } from './flags.ts';

/** Columns that a terminal shows at least. */
const width = 100;
/** A longer name of a flag stands on a line of its own. */
const widestLeft = 36;

/** The text of `--help`. */
export function helpText(spec: CommandSpec): string {
  const commands = Object.entries(spec.commands ?? {});
  const words = ['[flags]', ...spec.positionals].join(' ');
  const help: Flag = { kind: 'switch', help: 'show this' };
  return [
    ...wrapped(spec.purpose, width),
    '',
    `usage: ${commandLine(spec)} ${words}`,
    ...(commands.length === 0 ? [] : [`       ${commandLine(spec)} <command> [flags]`]),
    '',
    ...(commands.length === 0
      ? []
      : ['commands, each with a --help of its own:', ...columns(commands.map(commandRow)), '']),
    ...columns([...Object.entries(spec.flags), ['help', help] as const].map(flagRow)),
    '',
    'examples:',
    ...spec.examples.map((example) => `  ${example}`),
    '',
    'exit codes: 0 done, quiet or skipped · 1 failed · 2 usage or configuration · 3 partly failed · 4 key or quota · 5 rescue',
  ].join('\n');
}

type Row = readonly [left: string, right: string];

function commandRow([name, { purpose }]: readonly [string, CommandSpec]): Row {
  return [name, purpose];
}

/** Values that are many stand behind the help. */
function flagRow([name, flag]: readonly [string, Flag]): Row {
  const repeatable = flag.kind === 'list' ? ' (repeatable)' : '';
  if (flag.kind === 'switch') return [`--${name}`, flag.help];
  const values = flag.oneOf?.join('|');
  const left = `--${name} ${values ?? flag.value ?? '<value>'}`;
  if (left.length <= widestLeft || flag.oneOf === undefined) return [left, `${flag.help}${repeatable}`];
  return [`--${name} ${flag.value ?? '<value>'}`, `${flag.help}${repeatable}: ${flag.oneOf.join(', ')}`];
}

function columns(rows: readonly Row[]): string[] {
  const left = Math.max(...rows.map(([name]) => (name.length > widestLeft ? 0 : name.length)));
  const margin = ' '.repeat(left + 4);
  return rows.flatMap(([name, text]) => {
    const [first = '', ...more] = wrapped(text, width - margin.length);
    const start = name.length > left ? [`  ${name}`, `${margin}${first}`] : [`  ${name.padEnd(left)}  ${first}`];
    return [...start, ...more.map((line) => `${margin}${line}`)];
  });
}

/** Lines of whole words, at most so long; a longer word stands alone. */
function wrapped(text: string, columnsWide: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > columnsWide) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}
