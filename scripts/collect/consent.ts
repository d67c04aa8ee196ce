import { isRepositoryPattern } from '../shared/config.ts';
import { UsageError } from '../shared/errors.ts';
import { parseYaml } from '../shared/yaml.ts';

/** What this laptop agreed to send to one memory repository. */
export interface Agreement {
  /** The repository that the sessions go to: `host/path`, or the folder of one on this machine. */
  readonly memory: string;
  /** Repositories whose sessions may be sent: `host/owner/name` or `host/owner/*`. */
  readonly include: readonly string[];
  /** Send even though everybody, or a fork's network, can read it there. */
  readonly allowPublic: boolean;
  /** The person says that it is private, where the host cannot be asked. */
  readonly isPrivate: boolean;
}

/** The laptop's own file: nothing leaves the machine that it does not allow. */
export interface Consent {
  /** For pseudonyms. */
  readonly salt: string;
  /** Stands in sessions as their author; null: by git's user.email. */
  readonly author: string | null;
  /** Ids of sessions that are never sent. */
  readonly optOut: readonly string[];
  /** The word in a prompt that keeps its session here, where it is another than `optOutWord`. */
  readonly optOutWord?: string;
  readonly agreements: readonly Agreement[];
}

/** Everything that is wrong with the laptop's file. */
export class ConsentError extends UsageError {
  constructor(path: string, mistakes: readonly string[]) {
    super(
      `${path} cannot be used, so nothing is sent:\n${mistakes.map((mistake) => `  ${mistake}`).join('\n')}`,
      'Correct it, or remove it and write it anew: npm run collect -- --init',
    );
  }
}

const version = 1;

/** @throws ConsentError naming every mistake at once. */
export function parseConsent(text: string, path: string): Consent {
  const { value, errors } = parseYaml(text);
  if (errors.length > 0)
    throw new ConsentError(
      path,
      errors.map(({ line, message }) => `line ${line}: ${message}`),
    );
  const mistakes: string[] = [];
  const file = reader(
    value,
    'the file',
    ['version', 'salt', 'author', 'opt_out', 'opt_out_word', 'memories'],
    mistakes,
  );
  if (file.value('version') !== version) mistakes.push(`version is not ${version}`);
  const consent: Consent = {
    salt: file.text('salt', /^[0-9a-f]{32}$/, '32 hex digits'),
    author: file.value('author') === undefined ? null : file.text('author', authorForm, 'a short name without spaces'),
    optOut: file.list('opt_out', /^.{1,200}$/, 'a session’s id'),
    ...(file.value('opt_out_word') === undefined
      ? {}
      : { optOutWord: file.text('opt_out_word', wordForm, 'word of 4 to 64 characters') }),
    agreements: file.entries('memories').map((entry, index) => agreementOf(entry, `memories[${index}]`, mistakes)),
  };
  if (mistakes.length > 0) throw new ConsentError(path, mistakes);
  return consent;
}

/** What a person may be called in a session. */
export const authorForm = /^[\p{L}\p{N}][\p{L}\p{N}._+-]{0,63}$/u;

const wordForm = /^\S{4,64}$/;

/** YAML that `parseConsent` reads, with words for whoever opens the file. */
export function formatConsent({ salt, author, optOut, optOutWord, agreements }: Consent): string {
  const list = (indent: string, entries: readonly string[]): string =>
    entries.map((entry) => `\n${indent}- ${JSON.stringify(entry)}`).join('');
  const memories = agreements.map(({ memory, include, allowPublic, isPrivate }) =>
    [
      `  - repo: ${JSON.stringify(memory)}`,
      `    include:${include.length === 0 ? ' []' : list('      ', include)}`,
      `    allow_public: ${allowPublic}`,
      `    private: ${isPrivate}`,
    ].join('\n'),
  );
  return [
    '# What this laptop sends to a team’s memory: sessions of the repositories under `include`, without secrets.',
    '# No repository’s configuration can widen it. `npm run collect -- --dry-run` shows what would leave the machine.',
    `version: ${version}`,
    `salt: ${JSON.stringify(salt)}  # keeps pseudonyms from being guessed; stays here`,
    ...(author === null ? [] : [`author: ${JSON.stringify(author)}`]),
    `opt_out:${optOut.length === 0 ? ' []' : list('  ', optOut)}`,
    ...(optOutWord === undefined ? [] : [`opt_out_word: ${JSON.stringify(optOutWord)}`]),
    `memories:${memories.length === 0 ? ' []' : `\n${memories.join('\n')}`}`,
    '',
  ].join('\n');
}

function agreementOf(value: unknown, name: string, mistakes: string[]): Agreement {
  const entry = reader(value, name, ['repo', 'include', 'allow_public', 'private'], mistakes);
  const include = entry.list('include', /^.{1,500}$/, 'a repository');
  for (const pattern of include)
    if (!isRepositoryPattern(pattern))
      mistakes.push(`${name}.include: “${pattern.slice(0, 60)}” is no host/owner/name or host/owner/*`);
  return {
    memory: entry.text('repo', /^[^\0-\x1f]{1,4000}$/, 'a repository or folder'),
    include,
    allowPublic: entry.flag('allow_public'),
    isPrivate: entry.flag('private'),
  };
}

function reader(value: unknown, name: string, keys: readonly string[], mistakes: string[]) {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject) mistakes.push(`${name} is no list of keys`);
  const fields = isObject ? (value as Record<string, unknown>) : {};
  for (const key of Object.keys(fields))
    if (!keys.includes(key)) mistakes.push(`${name}: “${key.slice(0, 60)}” is no key of this file`);
  const wrong = (key: string, wanted: string): void => void mistakes.push(`${name}: ${key} is no ${wanted}`);
  const entries = (key: string): readonly unknown[] => {
    const found = fields[key] ?? [];
    if (Array.isArray(found)) return found;
    wrong(key, 'list');
    return [];
  };
  const isText = (found: unknown, form: RegExp): found is string => typeof found === 'string' && form.test(found);
  return {
    value: (key: string): unknown => fields[key],
    entries,
    text(key: string, form: RegExp, wanted: string): string {
      const found = fields[key];
      if (isText(found, form)) return found;
      wrong(key, wanted);
      return '';
    },
    list(key: string, form: RegExp, wanted: string): string[] {
      const found = entries(key).filter((entry) => isText(entry, form));
      if (found.length < entries(key).length) wrong(key, `list of ${wanted} each`);
      return found;
    },
    flag(key: string): boolean {
      const found = fields[key] ?? false;
      if (typeof found !== 'boolean') wrong(key, 'true or false');
      return found === true;
    },
  };
}
