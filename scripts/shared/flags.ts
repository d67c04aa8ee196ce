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
  /** `bench`; of a sub-command `bench -- trust`. */
  readonly name: string;
  readonly purpose: string;
  readonly flags: Readonly<Record<string, Flag>>;
  /** Names of positional arguments, such as `<query>`; empty refuses any. */
  readonly positionals: readonly string[];
  readonly examples: readonly string[];
  /** Sub-commands by name: the first argument that is no flag chooses one, with flags and a help of its own. */
  readonly commands?: Readonly<Record<string, CommandSpec>>;
}

export interface Flags {
  readonly help: boolean;
  /** The sub-command that was named, which is no positional; null for none. */
  readonly command: string | null;
  isOn(name: string): boolean;
  /** The last value given, or undefined. */
  valueOf(name: string): string | undefined;
  listOf(name: string): readonly string[];
  readonly positionals: readonly string[];
}

/** @throws UsageError for an unknown flag, a missing value, one that is not allowed, or a positional too many. */
export function parseFlags(whole: CommandSpec, args: readonly string[]): Flags {
  const command = commandIn(whole, args);
  const spec = specOf(whole, command);
  const { values, positionals: words } = parse(spec, args, optionsOf([spec]));
  const positionals = command === null ? words : words.slice(1);
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
  return {
    help,
    command,
    isOn: (name) => values[name] === true,
    valueOf: (name) => listOf(name).at(-1),
    listOf,
    positionals,
  };
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

/** What is asked for where a command has others below it: that one's spec, else the command's own. */
export function specOf(spec: CommandSpec, command: string | null): CommandSpec {
  return (command === null ? undefined : spec.commands?.[command]) ?? spec;
}

/** Read with the flags of all of them, so that no flag's value is taken for a name. */
function commandIn(spec: CommandSpec, args: readonly string[]): string | null {
  const commands = new Map(Object.entries(spec.commands ?? {}));
  if (commands.size === 0) return null;
  const options = optionsOf([spec, ...commands.values()]);
  const [first] = parseArgs({ args: [...args], options, allowPositionals: true, strict: false }).positionals;
  return first !== undefined && commands.has(first) ? first : null;
}

function optionsOf(specs: readonly CommandSpec[]): NonNullable<ParseArgsConfig['options']> {
  const options: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean', short: 'h' } };
  for (const [name, flag] of specs.flatMap(({ flags }) => Object.entries(flags)))
    options[name] = flag.kind === 'switch' ? { type: 'boolean' } : { type: 'string', multiple: true };
  return options;
}

/** How a person starts it: `npm run bench --`, `npm run bench -- trust`. */
export function commandLine({ name }: CommandSpec): string {
  return `npm run ${name}${name.includes(' -- ') ? '' : ' --'}`;
}

function seeHelp(spec: CommandSpec): string {
  return `See ${commandLine(spec)} --help.`;
}
