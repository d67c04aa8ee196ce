import { type ParseArgsConfig, parseArgs } from 'node:util';
import { messageOf, UsageError } from './errors.ts';

export interface Flag {
  readonly kind: 'switch' | 'value' | 'list';
  /** What stands for the value in the help, such as `<dir>`. */
  readonly value?: string;
  /** The values allowed, if they are few. */
  readonly oneOf?: readonly string[];
  readonly help: string;
}

/** A command as its `--help` shows it. */
export interface CommandSpec {
  readonly name: string;
  readonly purpose: string;
  readonly flags: Readonly<Record<string, Flag>>;
  /** Names of positional arguments, such as `<query>`; empty refuses any. */
  readonly positionals: readonly string[];
  readonly examples: readonly string[];
}

export interface Flags {
  readonly help: boolean;
  isOn(name: string): boolean;
  /** The last value given, or undefined. */
  valueOf(name: string): string | undefined;
  listOf(name: string): readonly string[];
  readonly positionals: readonly string[];
}

/** @throws UsageError for an unknown flag, a missing value, one that is not allowed, or a positional too many. */
export function parseFlags(spec: CommandSpec, args: readonly string[]): Flags {
  const options: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean', short: 'h' } };
  for (const [name, flag] of Object.entries(spec.flags)) {
    options[name] = flag.kind === 'switch' ? { type: 'boolean' } : { type: 'string', multiple: true };
  }
  const { values, positionals } = parse(spec, args, options);
  const listOf = (name: string): readonly string[] => {
    const value = values[name];
    return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : [];
  };
  const help = values.help === true;
  if (!help) {
    for (const [name, flag] of Object.entries(spec.flags)) {
      const wrong = listOf(name).find(
        (value) => value === '' || (flag.oneOf !== undefined && !flag.oneOf.includes(value)),
      );
      if (wrong !== undefined) {
        throw new UsageError(
          `--${name} does not take “${wrong}”.`,
          `It takes ${flag.oneOf?.join(', ') ?? flag.value ?? 'a value'}.`,
        );
      }
    }
    if (positionals.length > spec.positionals.length) {
      throw new UsageError(`“${positionals[spec.positionals.length]}” is one argument too many.`, seeHelp(spec));
    }
  }
  return { help, isOn: (name) => values[name] === true, valueOf: (name) => listOf(name).at(-1), listOf, positionals };
}

/** The text of `--help`. */
export function helpText(spec: CommandSpec): string {
  const rows = [
    ...Object.entries(spec.flags),
    ['help', { kind: 'switch', help: 'show this' } satisfies Flag] as const,
  ].map(([name, flag]) => {
    const value = flag.kind === 'switch' ? '' : ` ${flag.oneOf?.join('|') ?? flag.value ?? '<value>'}`;
    return [`--${name}${value}`, `${flag.help}${flag.kind === 'list' ? ' (repeatable)' : ''}`] as const;
  });
  const width = Math.max(...rows.map(([left]) => left.length));
  return [
    spec.purpose,
    '',
    `usage: npm run ${spec.name} -- ${['[flags]', ...spec.positionals].join(' ')}`,
    '',
    ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`),
    '',
    'examples:',
    ...spec.examples.map((example) => `  ${example}`),
    '',
    'exit codes: 0 done, quiet or skipped · 1 failed · 2 usage or configuration · 3 partly failed · 4 key or quota · 5 rescue',
  ].join('\n');
}

function parse(spec: CommandSpec, args: readonly string[], options: NonNullable<ParseArgsConfig['options']>) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    // After the first sentence Node explains its own conventions, which are not ours.
    const said =
      /^[^\n]*?(?=\. To specify |\n|$)/.exec(messageOf(error))?.[0].replace(/\.?$/, '.') ?? 'The flags are wrong.';
    throw new UsageError(said, seeHelp(spec), { cause: error });
  }
}

function seeHelp(spec: CommandSpec): string {
  return `See npm run ${spec.name} -- --help.`;
}
