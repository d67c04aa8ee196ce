import { type Segment, segmentsOf } from './segments.ts';

/**
 * What a simple command is for. `look` reads and proves nothing; `act` changes something without proving it; `check`
 * is anything else: tests, builds, linters, scripts, programs.
 */
export type Purpose = 'look' | 'act' | 'check';

/** One simple command of a command line. */
export interface Simple {
  readonly purpose: Purpose;
  /** Its place in the command line, verbatim, without a pipe's filters. */
  readonly source: string;
  /** The line's exit status is this command's: nothing is piped, and only `&&` or a loop's end follows. */
  readonly decides: boolean;
  /** What it prints reaches the session to its end: then an output without complaints speaks for it. */
  readonly shown: boolean;
  /** Its program, without folders: `pytest`, `rotate.sh`. */
  readonly program: string;
  /** Program and words, without flags, redirections and variables: equal keys are the same command. */
  readonly key: string;
  /** Program and first word: `go test`; looser than `key`. */
  readonly family: string;
  /** What it proves, told from the words that tool makers use: test, lint, types, build; else null. */
  readonly kind: string | null;
  /** It prints files or pages, so its output is their words and not the command's. */
  readonly prints: boolean;
  /** `git checkout -- file`, `git restore`, `git reset`, `git revert`, `git stash`: work is taken back. */
  readonly takesBack: boolean;
}

const maxLine = 2_000;
const lookers = words(
  'ls cat bat head tail less more sed awk grep egrep rg ag find fd which type whereis file stat wc tree pwd cd pushd popd echo printf true false : exit set export source . test [ [[ sleep sort uniq cut tr tee xargs diff cmp date whoami id uname env printenv du df ps jq yq strings xxd od hexdump basename dirname realpath readlink history man help seq read wait jobs clear',
);
const printers = words(
  'cat bat head tail less more sed awk grep egrep rg ag jq yq strings xxd od hexdump curl wget man',
);
const actors = words(
  'rm mv cp mkdir rmdir touch chmod chown ln kill pkill killall tar unzip zip gzip curl wget ssh scp rsync',
);
const gitLooks = words(
  'status log diff show branch rev-parse rev-list blame ls-files ls-tree cat-file check-ignore merge-base grep remote config describe shortlog reflog tag',
);
const managers = words(
  'npm pnpm yarn bun pip pip3 uv poetry brew apt apt-get apk dnf yum gem bundle cargo go composer dotnet mix nix conda',
);
const installs = words(
  'install i ci add remove uninstall download get mod update upgrade init sync fetch tidy view info list ls',
);
const prefixes = words('do then else if while until time sudo command exec nohup ! { ( ) }');
const shells = words('sh bash zsh dash ksh');
const frames = words('for case select function done fi esac in }');
// Their next word says what they do.
const nested = words('run exec compose stash submodule worktree x dlx');
const inlineFlags = words('-c -e --eval -p --print -');
const kinds: readonly (readonly [string, RegExp])[] = [
  [
    'test',
    /^(?:.{0,40}[:/_-])?(?:tests?|spec|pytest|unittest|jest|vitest|mocha|ava|rspec|phpunit|ctest|junit|nextest|tox|nox)(?:[:._-].{0,40})?$|^--test/,
  ],
  [
    'lint',
    /^(?:.{0,40}[:/_-])?(?:lint|eslint|biome|ruff|flake8|pylint|golangci-lint|clippy|rubocop|shellcheck|vet|stylelint)(?:[:._-].{0,40})?$/,
  ],
  ['types', /^(?:tsc|mypy|pyright|typecheck|type-check|types|flow|vue-tsc)$/],
  [
    'build',
    /^(?:.{0,40}[:/_-])?(?:build|compile|make|bundle|webpack|rollup|gradle|mvn|cmake|ninja|bazel)(?:[:._-].{0,40})?$/,
  ],
];

/**
 * The simple commands of a shell command line (its first 2,000 characters; here-documents are left out), in order.
 * What follows a pipe is left out too: it filters.
 */
export function simpleCommands(line: string): Simple[] {
  return parse(line.slice(0, maxLine), 0);
}

/** Commands that are read or followed, without those that only look: what a failure or a pass is about. */
export function telling(commands: readonly Simple[]): Simple[] {
  return commands.filter((command) => command.purpose !== 'look');
}

function parse(line: string, depth: number): Simple[] {
  return segmentsOf(line).flatMap((segment) => simpleOf(segment, depth));
}

function simpleOf({ words: all, source, decides, shown }: Segment, depth: number): Simple[] {
  let at = 0;
  while (at < all.length && isPrefix(all[at] ?? '')) at += 1;
  if (all[at] === 'timeout') at += 2;
  if (at >= all.length || frames.has(all[at] ?? '')) return [];
  let program = nameOf(all[at] ?? '');
  let rest = all.slice(at + 1);
  if (shells.has(program) && rest.length > 0) {
    const script = rest.find((word) => !word.startsWith('-'));
    const isInline = rest.some((word) => /^-[a-z]{0,3}c$/.test(word));
    if (isInline && script && depth < 2)
      return parse(script, depth + 1).map((simple) => ({
        ...simple,
        decides: simple.decides && decides,
        shown: simple.shown && shown,
      }));
    if (script && !isInline) {
      program = nameOf(script);
      rest = rest.slice(rest.indexOf(script) + 1);
    }
  }
  while (program === 'git' && /^-[cC]$/.test(rest[0] ?? '')) rest = rest.slice(2);
  const isInline =
    /^(?:python|node|ruby|perl|php|deno|bun)/.test(program) && rest.some((word) => inlineFlags.has(word));
  const plain = isInline ? ['(inline)'] : plainWords(rest);
  const long = nested.has(plain[0] ?? '') ? 2 : 1;
  return [
    {
      purpose: asksAbout(rest) ? 'look' : purposeOf(program, plain),
      source,
      decides,
      shown,
      program,
      key: [program, ...plain].join(' ').slice(0, 160),
      family: [program, ...plain.slice(0, long)].join(' '),
      kind: kindOf([program, ...(isInline ? [] : rest)]),
      prints: printers.has(program) || (program === 'git' && /^(?:show|diff|grep|log)$/.test(plain[0] ?? '')),
      takesBack: program === 'git' && takesBack(rest),
    },
  ];
}

/** `--version`, `--help`: nothing is run. */
function asksAbout(rest: readonly string[]): boolean {
  return (
    rest.some((word) => /^--?(?:version|help)$/.test(word)) || (rest.length === 1 && /^-[vVh]$/.test(rest[0] ?? ''))
  );
}

function takesBack(rest: readonly string[]): boolean {
  const [first = ''] = rest;
  if (/^(?:restore|reset|revert)$/.test(first)) return true;
  if (first === 'stash') return !/^(?:list|show|pop|apply|drop|clear)$/.test(rest[1] ?? '');
  return first === 'checkout' && (rest.includes('--') || rest.includes('.'));
}

function isPrefix(word: string): boolean {
  return prefixes.has(word) || /^[A-Za-z_][A-Za-z0-9_]{0,80}=/.test(word);
}

function nameOf(word: string): string {
  return (
    word
      .replace(/^[({]{1,3}/, '')
      .split(/[/\\]/)
      .at(-1) ?? word
  );
}

function plainWords(rest: readonly string[]): string[] {
  const plain: string[] = [];
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? '';
    if (/^\d{0,1}&?[<>]{1,2}$/.test(word)) at += 1;
    else if (!/^(?:-|\d{0,1}&?[<>])/.test(word)) plain.push(word);
  }
  return plain;
}

function purposeOf(program: string, plain: readonly string[]): Purpose {
  const [first = ''] = plain;
  if (program === 'git') return gitLooks.has(first) ? 'look' : 'act';
  if (lookers.has(program)) return 'look';
  if (actors.has(program)) return 'act';
  return managers.has(program) && installs.has(first) ? 'act' : 'check';
}

function kindOf(segment: readonly string[]): string | null {
  const named = segment.slice(0, 6);
  for (const [kind, pattern] of kinds) if (named.some((word) => pattern.test(nameOf(word)))) return kind;
  return null;
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}
