import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** The map. A folder may import from folders of a higher line only; folders on one line never import each other. */
const levels: readonly (readonly string[])[] = [
  ['shared'],
  ['rollout', 'model', 'workspace', 'git'],
  ['state', 'archive'],
  ['phase1', 'phase2', 'recall', 'connect', 'collect', 'check', 'publish'],
  ['nightly', 'status', 'sql', 'note', 'why', 'report', 'bench', 'upgrade', 'merge-driver'],
  ['doctor', 'forget'],
];

/** The one file that imports a package. */
const doors: Readonly<Record<string, string>> = {
  '@modelcontextprotocol/sdk': 'recall/mcp-server.ts',
  '@secretlint/core': 'check/secretlint.ts',
  '@secretlint/secretlint-rule-preset-recommend': 'check/secretlint.ts',
  'd3-scale': 'report/chart.ts',
  diff: 'workspace/unified-diff.ts',
  esbuild: 'connect/bundle.ts',
  'gpt-tokenizer': 'shared/byte-pairs.ts',
  'gray-matter': 'shared/front-matter.ts',
  'isomorphic-git': 'git/isomorphic.ts',
  'jsonc-parser': 'connect/json-text.ts',
  minisearch: 'recall/search/ranking.ts',
  openai: 'model/client.ts',
  'p-limit': 'shared/limit.ts',
  'sql.js': 'state/database.ts',
  yaml: 'shared/yaml.ts',
  zod: 'shared/config-schema.ts',
};

/**
 * Started by an agent while a session waits: an entry and composition root of its own, which may touch the process as
 * `shared/main.ts` does, and in return loads no package and little of ours.
 */
const hookEntry = 'recall/hook.ts';

/** What only one file may touch. */
const reserved: readonly {
  readonly pattern: RegExp;
  readonly file: string;
  readonly what: string;
  readonly also?: string;
}[] = [
  { pattern: /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/, file: 'shared/clock.ts', what: 'reads the time' },
  // A child's group can be signalled by that alone.
  {
    pattern: /(?<![\w.'"`/-])process\.(?!kill\(-child\.)|from 'node:process'/,
    file: 'shared/main.ts',
    what: 'touches the process',
    also: hookEntry,
  },
  { pattern: /\bconsole\.|\bstdout\.write\(|\bstderr\.write\(/, file: 'shared/log.ts', what: 'prints' },
  {
    pattern: /\bMath\.random\(|\brandomUUID\(|\brandomBytes\(|\bgenerateKey/,
    file: 'shared/main.ts',
    what: 'draws lots',
  },
  { pattern: /\beval\(|\bnew Function\(|\bexecSync\(|\bexec\(['"`]|shell: true/, file: 'none', what: 'runs a text' },
  { pattern: /\.localeCompare\(|\btoLocale\w*\(/, file: 'none', what: 'depends on the locale' },
];

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const scripts = join(root, 'scripts');
const files = sources(scripts).map((path) => ({
  path: relative(scripts, path).split('\\').join('/'),
  text: readFileSync(path, 'utf8'),
}));

test('there is something to check', () => {
  assert.ok(files.length > 30);
});

test('folders import downwards only, and never from a folder of their own level', () => {
  const wrong = files.flatMap(({ path, text }) => {
    const folder = folderOf(path);
    return importsOf(text)
      .filter((name) => name.startsWith('.'))
      .map((name) => posix.normalize(posix.join(posix.dirname(path), name)))
      .filter((target) => !mayImport(folder, folderOf(target)))
      .map((target) => `${path} imports ${target}`);
  });
  assert.deepEqual(wrong, []);
});

test('every folder has its place on the map', () => {
  const known = new Set(levels.flat());
  assert.deepEqual(
    [...new Set(files.map(({ path }) => folderOf(path)))].filter((folder) => folder !== '' && !known.has(folder)),
    [],
  );
});

test('a package has one door', () => {
  const used = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const name of importsOf(text)) {
      if (name.startsWith('.') || name.startsWith('node:')) continue;
      const packageName = name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/');
      used.set(packageName, [...(used.get(packageName) ?? []), path]);
    }
  }
  assert.deepEqual(
    Object.fromEntries([...used].map(([name, paths]) => [name, [...new Set(paths)].join(', ')]).sort()),
    Object.fromEntries(Object.entries(doors).sort()),
  );
});

test('every package has a door and every door a package', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const expected = Object.keys(dependencies).filter((name) => name !== 'tsx');
  assert.deepEqual(expected.sort(), Object.keys(doors).sort());
});

for (const { pattern, file, what, also } of reserved) {
  test(`only ${file === 'none' ? 'nobody' : file} ${what}`, () => {
    const wrong = files
      .filter(({ path, text }) => path !== file && path !== also && pattern.test(withoutComments(text)))
      .map(({ path }) => path);
    assert.deepEqual(wrong, []);
  });
}

test('what an agent waits for loads no package, no state and no transport before it has answered', () => {
  const loaded = reachedFrom(hookEntry);
  assert.ok(loaded.size > 10);
  const allowed = new Set(['recall', 'shared', 'rollout', 'workspace']);
  assert.deepEqual(
    [...loaded].filter((path) => !allowed.has(folderOf(path))),
    [],
  );
  const packages = files
    .filter(({ path }) => loaded.has(path))
    .flatMap(({ text }) => staticImports(text).filter((name) => !name.startsWith('.') && !name.startsWith('node:')));
  assert.deepEqual(packages, []);
});

test('an entry script has a folder or is small', () => {
  const folders = new Set(files.map(({ path }) => folderOf(path)));
  const large = files.filter(
    ({ path, text }) => folderOf(path) === '' && !folders.has(path.replace('.ts', '')) && text.split('\n').length > 200,
  );
  assert.deepEqual(
    large.map(({ path }) => path),
    [],
  );
});

test('every file that the map names is there', () => {
  const map = readFileSync(join(scripts, 'README.md'), 'utf8');
  const named = [...map.matchAll(/\b((?:[a-z0-9-]+\/)+[a-z0-9-]+\.(?:ts|md))\b/g)].map((match) => match[1] ?? '');
  assert.ok(named.length > 20);
  assert.deepEqual(
    named.filter(
      (path) => !existsSync(join(path.startsWith('prompts/') || path.startsWith('test/') ? root : scripts, path)),
    ),
    [],
  );
});

test('nothing is left for later, and no barrel or default export stands', () => {
  const wrong = files
    .filter(({ text }) => /\b(TODO|FIXME|XXX|HACK)\b|export default|export \* from/.test(text))
    .map(({ path }) => path);
  assert.deepEqual(wrong, []);
});

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? sources(join(folder, entry.name))
      : entry.name.endsWith('.ts')
        ? [join(folder, entry.name)]
        : [],
  );
}

/** `''` for an entry script. */
function folderOf(path: string): string {
  return path.includes('/') ? (path.split('/')[0] ?? '') : '';
}

function mayImport(from: string, to: string): boolean {
  if (from === to) return from !== '';
  if (from === '') return true;
  return (
    levels.findIndex((level) => level.includes(to)) < levels.findIndex((level) => level.includes(from)) && to !== ''
  );
}

function importsOf(text: string): string[] {
  return [...text.matchAll(/^(?:import|export)\b[^;'"]*?from '([^']+)'|\bimport\('([^']+)'\)|^import '([^']+)'/gm)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? '',
  );
}

/** Every file that is loaded with a file, types aside: what it imports, and so on. */
function reachedFrom(entry: string): Set<string> {
  const reached = new Set<string>();
  const open = [entry];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (reached.has(path)) continue;
    reached.add(path);
    const text = files.find((file) => file.path === path)?.text ?? '';
    for (const name of staticImports(text).filter((one) => one.startsWith('.')))
      open.push(posix.normalize(posix.join(posix.dirname(path), name)));
  }
  return reached;
}

function staticImports(text: string): string[] {
  return [...text.matchAll(/^(?:import|export)\b(?! type\b)[^;'"]*?from '([^']+)'|^import '([^']+)'/gm)].map(
    (match) => match[1] ?? match[2] ?? '',
  );
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '');
}
