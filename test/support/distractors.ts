import { renderBlock } from '../../scripts/workspace/handbook.ts';
import { type Lots, lotsFrom } from './lots.ts';

/** Blocks of a handbook that talk of the same things as any team's, and answer none of the questions. */
export interface Distractors {
  /** Source of `MEMORY.md` blocks. */
  readonly blocks: readonly string[];
  /** Every line that was drawn. */
  readonly lines: readonly string[];
}

/**
 * @param answers lines of which no run of three words may occur in what is drawn.
 * @param repositories whose blocks they say they are, beside invented ones: half of them are the answers' own.
 */
export function someDistractors(
  count: number,
  answers: readonly string[],
  repositories: readonly [string, ...string[]],
): Distractors {
  const lots = lotsFrom(20_261_130);
  const taken = new Set(answers.flatMap(runsOf));
  const lines: string[] = [];
  const line = (): string => {
    for (;;) {
      const drawn = fill(lots.of(patterns), lots);
      if (runsOf(drawn).some((run) => taken.has(run))) continue;
      lines.push(drawn);
      return drawn;
    }
  };
  const blocks = Array.from({ length: count }, (_, number) => {
    const repo = lots.percent(50)
      ? lots.of(repositories)
      : `git.example.test/acme/${fill('{thing}-{part}', lots)}-${number % 97}`;
    const path = fill('{path}', lots);
    return renderBlock({
      title: fill('{thing} {part}', lots),
      scopeLine: `notes on ${path}`,
      appliesTo: { repo, cwd: '.', reuseRule: 'look before you rely on it' },
      tasks: [{ title: line(), references: [], keywords: [path, fill('{tool}', lots), fill('{thing}', lots)] }],
      bullets: { preferences: [line()], knowledge: [line()], failures: [line()] },
    });
  });
  return { blocks, lines };
}

/** Every three words that follow each other, in lower case. */
export function runsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [];
  return words.slice(2).map((word, at) => `${words[at]} ${words[at + 1]} ${word}`);
}

const words: Readonly<Record<string, readonly [string, ...string[]]>> = {
  thing: [
    'invoice',
    'cart',
    'stock',
    'order',
    'price',
    'discount',
    'payment',
    'customer',
    'report',
    'export',
    'import',
    'search',
    'login',
    'session',
    'settings',
    'image',
    'container',
    'pipeline',
    'release',
    'staging',
    'log',
    'cache',
    'queue',
    'worker',
    'download',
    'upload',
    'backup',
    'migration',
    'schema',
    'mailer',
    'webhook',
    'scheduler',
    'router',
    'parser',
    'compiler',
  ],
  part: [
    'service',
    'module',
    'helper',
    'client',
    'server',
    'script',
    'handler',
    'table',
    'view',
    'form',
    'test',
    'job',
    'api',
  ],
  tool: [
    'pytest',
    'jest',
    'vitest',
    'mocha',
    'eslint',
    'ruff',
    'mypy',
    'golangci-lint',
    'cargo',
    'gradle',
    'maven',
    'npm',
    'yarn',
    'pip',
    'poetry',
    'docker compose',
    'podman',
    'kubectl',
    'terraform',
    'bash',
    'zsh',
    'make',
    'bazel',
    'tsc',
    'webpack',
    'vite',
  ],
  path: [
    'src/index.ts',
    'app/models.py',
    'lib/cache.rb',
    'cmd/root.go',
    'internal/auth.go',
    'web/router.tsx',
    'core/parser.rs',
    'scripts/release.sh',
    'config/settings.toml',
    'tests/test_orders.py',
    'db/schema.sql',
    'jobs/nightly.py',
    'ui/cart.tsx',
    'api/payments.ts',
    'pkg/log/rotate.go',
    'tools/lint.mjs',
    'etl/fetch_prices.py',
    'deploy/staging.yaml',
  ],
  fault: [
    'TypeError: undefined is not a function',
    'KeyError: price',
    'ImportError: cannot import name',
    'ETIMEDOUT',
    'exit status 137',
    'permission denied while writing',
    'lockfile out of date',
    'no space left on device',
    'connection refused by the database',
    'AssertionError: expected 4 got 5',
    'certificate has expired',
    'module not found: redis',
    'rate limit exceeded',
    '403 Forbidden',
    'unused import flagged by the linter',
    'race detected in the worker',
    'snapshot mismatch',
    'duplicate key value',
  ],
  wish: [
    'keep functions short',
    'write the tests first',
    'ask before adding a package',
    'squash commits before merging',
    'prefer composition to inheritance',
    'name branches after the ticket',
    'log in JSON',
    'avoid global state',
    'no emojis in commits',
    'document every environment variable',
    'pin versions of images',
    'round to two decimals',
    'use tabs in Makefiles',
    'run the formatter before pushing',
    'never push to main',
    'mock the clock in tests',
    'keep secrets in the vault',
    'return errors instead of panicking',
    'use UTC in timestamps',
    'default exports are fine in stories',
    'retry at most five times',
    'split large changes into several',
    'use semicolons in TypeScript',
    'print amounts with their currency',
  ],
  who: ['the reviewer', 'the team', 'the person', 'the maintainer', 'everybody here', 'the customer'],
};

const patterns: readonly [string, ...string[]] = [
  '{who} asked: {wish}, above all in the {thing} {part}',
  'in {path} {wish}; {who} said so twice',
  'the {thing} {part} broke with “{fault}” until {path} was corrected',
  '`{tool}` stopped with “{fault}”; a second try of `{tool}` went through after {path} had been edited',
  'why the {thing} {part} fails: {fault}',
  'to try out only the {thing} {part}, call `{tool} {path}`',
  'the {thing} {part} lives in {path} and is called by the {thing} {part}',
  'rename the {thing} {part} in {path}, then build with `{tool}`',
  '{who} wants `{tool}`, not `{tool}`, for the {thing} {part}',
  'install {tool} before working on the {thing} {part}; version matters',
  'the {thing} {part} waits for the {thing} {part} up to thirty seconds',
  'without rights on {path} the {thing} {part} starts read-only',
  'the import of {thing} data needs the {thing} {part} running',
  'which {thing} is shown first depends on {path}',
  'Der {thing} {part} braucht `{tool}`, sonst kommt “{fault}”',
  'Dateien aus {path} werden vor dem {thing} {part} geprüft; {wish}',
  '修改 {path} 之后要重新运行 {tool}，否则 {thing} {part} 会失败',
  '{thing} 的数据库表在 {path} 里，上线之前先检查',
  '{thing} {part} 超时以后不要马上重试，先看日志',
];

function fill(pattern: string, lots: Lots): string {
  return pattern.replace(/\{(\w+)\}/g, (whole, kind: string) => {
    const list = words[kind];
    return list === undefined ? whole : lots.of(list);
  });
}
