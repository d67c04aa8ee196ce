/**
 * What a simple command is for. `look` reads and proves nothing; `act` changes something without proving it; `check`
 * is anything else: tests, builds, linters, scripts, programs.
 */
export type Purpose = 'look' | 'act' | 'check';

/** One simple command of a command line. */
export interface Simple {
  readonly purpose: Purpose;
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
  'status log diff show branch rev-parse blame ls-files grep remote config describe shortlog reflog',
);
const managers = words(
  'npm pnpm yarn bun pip pip3 uv poetry brew apt apt-get apk dnf yum gem bundle cargo go composer dotnet mix nix conda',
);
const installs = words(
  'install i ci add remove uninstall download get mod update upgrade init sync fetch tidy view info list ls',
);
const prefixes = words('do then else if while until time sudo command exec nohup ! { ( ) }');
const shells = words('sh bash zsh dash ksh');
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

/** True for `git checkout -- file`, `git restore`, `git reset`, `git revert`, `git stash`: work was taken back. */
export function takesBack(command: Simple): boolean {
  return /^git (?:restore|reset|revert|stash)\b/.test(command.key) || /^git checkout \S*[./]/.test(command.key);
}

function parse(line: string, depth: number): Simple[] {
  const found: Simple[] = [];
  for (const segment of segmentsOf(line)) {
    const simple = simpleOf(segment, depth);
    if (Array.isArray(simple)) found.push(...simple);
    else if (simple) found.push(simple);
  }
  return found;
}

/** Words of each simple command that is no filter. Quotes and escapes are honoured, substitutions are words. */
function segmentsOf(line: string): string[][] {
  const segments: string[][] = [];
  let current: string[] = [];
  let word = '';
  let started = false;
  let piped = false;
  const endWord = () => {
    if (started) current.push(word);
    word = '';
    started = false;
  };
  const endSegment = (nextIsPiped: boolean) => {
    endWord();
    if (current.length > 0 && !piped) segments.push(current);
    current = [];
    piped = nextIsPiped;
  };
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] ?? '';
    if (char === "'" || char === '"') {
      const close = closing(line, at, char);
      word += line.slice(at + 1, close);
      started = true;
      at = close;
    } else if (char === '\\') {
      word += line[at + 1] ?? '';
      started = true;
      at += 1;
    } else if (char === '<' && line[at + 1] === '<') {
      current.push('-');
      break;
    } else if (char === '$' && line[at + 1] === '(') {
      const close = line.indexOf(')', at);
      const end = close < 0 ? line.length : close;
      word += line.slice(at, end + 1);
      started = true;
      at = end;
    } else if (char === '&' && (line[at - 1] === '>' || line[at + 1] === '>')) {
      word += char;
      started = true;
    } else if (char === '|' && line[at + 1] !== '|') endSegment(true);
    else if (char === ';' || char === '&' || char === '|' || char === '\n') {
      if (line[at + 1] === char) at += 1;
      endSegment(false);
    } else if (/\s/.test(char)) endWord();
    else {
      word += char;
      started = true;
    }
  }
  endSegment(false);
  return segments;
}

function closing(line: string, open: number, mark: string): number {
  for (let at = open + 1; at < line.length; at += 1) {
    if (mark === '"' && line[at] === '\\') at += 1;
    else if (line[at] === mark) return at;
  }
  return line.length;
}

function simpleOf(segment: readonly string[], depth: number): Simple | Simple[] | null {
  let at = 0;
  while (at < segment.length && isPrefix(segment[at] ?? '')) at += 1;
  if (segment[at] === 'timeout') at += 2;
  if (segment[at] === 'for' || segment[at] === 'case' || at >= segment.length) return null;
  let program = nameOf(segment[at] ?? '');
  let rest = segment.slice(at + 1);
  if (shells.has(program) && rest.length > 0) {
    const script = rest.find((word) => !word.startsWith('-'));
    const isInline = rest.some((word) => /^-[a-z]{0,3}c$/.test(word));
    if (isInline && script && depth < 2) return parse(script, depth + 1);
    if (script && !isInline) {
      program = nameOf(script);
      rest = rest.slice(rest.indexOf(script) + 1);
    }
  }
  const inline = rest.some((word) => inlineFlags.has(word)) && /^(?:python|node|ruby|perl|php|deno|bun)/.test(program);
  const plain = inline ? ['(inline)'] : plainWords(rest);
  const key = [program, ...plain].join(' ').slice(0, 160);
  const family =
    plain[0] === 'run' ? [program, ...plain.slice(0, 2)].join(' ') : [program, ...plain.slice(0, 1)].join(' ');
  return {
    purpose: purposeOf(program, plain),
    program,
    key,
    family,
    kind: kindOf([program, ...(inline ? [] : rest)]),
    prints: printers.has(program) || (program === 'git' && /^(?:show|diff|grep|log)$/.test(plain[0] ?? '')),
  };
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
