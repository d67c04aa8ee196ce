import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { BuildOptions, OutputFile, Plugin } from 'esbuild';
import { MemoryError, messageOf } from '../shared/errors.ts';
import { loadPrompt } from '../shared/prompt.ts';

/**
 * One of our scripts with all that it imports, as one file that needs Node alone. The same sources give the same bytes,
 * wherever they lie.
 * @param root the folder of package.json. @param entry below it. @param define names that stand for texts in the file.
 * @param form `module` for `.mjs`; `script` for `.cjs`, which starts sooner and loads what Node has only where it is used,
 * but knows no top-level await.
 */
export async function bundle(
  root: string,
  entry: string,
  define: Readonly<Record<string, string>> = {},
  form: 'module' | 'script' = 'module',
): Promise<string> {
  const texts = Object.fromEntries(Object.entries(define).map(([name, text]) => [name, JSON.stringify(text)]));
  const options: BuildOptions = {
    entryPoints: [entry],
    ...(form === 'module'
      ? { format: 'esm', define: texts, banner: { js: requireForModules } }
      : {
          format: 'cjs',
          define: { ...texts, 'import.meta.url': 'moduleUrl' },
          banner: { js: urlForScripts },
          plugins: [ownRequire],
        }),
    platform: 'node',
    target: 'node20',
    charset: 'utf8',
    legalComments: 'inline',
  };
  const [file] = await built(root, options, `${entry} could not be made into one file`, 'Nothing was connected.');
  return file?.text ?? '';
}

/**
 * Of programs that live for seconds: half of Node's four threads, each of which keeps what the compiler once needed, and
 * eight megabytes of young objects, not sixteen. A night's peak is some 30 MB lower, and takes no more time.
 */
export const nodeOptions: readonly string[] = ['--v8-pool-size=2', '--max-semi-space-size=8'];

/** Of a program that a shell starts by its name; `env -S` splits at spaces. */
const firstLine = `#!/usr/bin/env -S node ${nodeOptions.join(' ')}`;

/**
 * Our commands as programs that need no loader, in a folder of their own: what several use stands in it once. They run the
 * prompts, samples and packages of this repository, so they belong to it.
 * @param folder absolute; two levels or more above it, `node_modules` is found. @param builtAt milliseconds since 1970.
 * @returns path in the folder → text: of `scripts/a/b.ts` `b.mjs`.
 */
export async function bundleCommands(
  root: string,
  entries: readonly string[],
  folder: string,
  builtAt: number,
): Promise<ReadonlyMap<string, string>> {
  const options: BuildOptions = {
    entryPoints: [...entries],
    outdir: folder,
    entryNames: '[name]',
    outExtension: { '.js': '.mjs' },
    splitting: true,
    mainFields: ['module', 'main'],
    platform: 'node',
    format: 'esm',
    target: 'node20',
    charset: 'utf8',
    legalComments: 'none',
    minifyWhitespace: true,
    minifySyntax: true,
    // What looks for files beside itself, and what starts a program of its own.
    external: ['esbuild', 'sql.js', 'tsx'],
    // As a module, so that what nobody calls is left out; Node alone would be given the whole of it as CommonJS.
    alias: { 'isomorphic-git': join(root, 'node_modules/isomorphic-git/index.js') },
    define: { builtAt: String(builtAt), 'import.meta.url': 'moduleUrl' },
    banner: { js: `${firstLine}\n${requireForModules} const chunkUrl = import.meta.url;` },
    plugins: [ownAddresses(folder)],
  };
  const files = await built(root, options, 'The commands could not be built', 'Nothing was written.');
  return new Map(files.map(({ path, text }) => [relative(folder, path), text]));
}

/** A module that looks for files beside itself finds them beside its source, wherever its code has come to stand. */
function ownAddresses(folder: string): Plugin {
  return {
    name: 'own addresses',
    setup: (bundler) => {
      bundler.onLoad({ filter: /\.(?:ts|mts|js|mjs)$/ }, async ({ path }) => {
        const text = await readFile(path, 'utf8');
        if (!text.includes('import.meta.url')) return undefined;
        const own = JSON.stringify(relative(folder, path).split('\\').join('/'));
        return { loader: 'ts', contents: `const moduleUrl = new URL(${own}, chunkUrl).href;\n${text}` };
      });
    },
  };
}

/** What an agent runs at the start of a session, `recall.cjs`: a session waits for it, so it has the form that starts sooner. */
export function bundleRecall(root: string): Promise<string> {
  return bundle(root, 'scripts/recall/hook.ts', { bundledRecallRules: loadPrompt('recall') }, 'script');
}

/**
 * A script or style sheet of a page with all that it imports, as one text that a `<script>` or `<style>` element may
 * hold. @param entry below `root`, `.ts` or `.css`.
 */
export async function bundleForPage(root: string, entry: string): Promise<string> {
  const options: BuildOptions = {
    entryPoints: [entry],
    minify: true,
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
    legalComments: 'inline',
  };
  const failed = `${entry} could not be made into a part of a page`;
  const [file] = await built(root, options, failed, 'Nothing was written.');
  return file?.text.trim() ?? '';
}

/** The bundler is loaded here, by what bundles: it takes longer to start than most commands. */
async function built(root: string, options: BuildOptions, failed: string, kept: string): Promise<OutputFile[]> {
  try {
    const { build } = await import('esbuild');
    const settings = { ...options, absWorkingDir: root, bundle: true, write: false, logLevel: 'silent' } as const;
    return (await build(settings)).outputFiles;
  } catch (cause) {
    throw new MemoryError(`${failed}: ${firstFault(cause)}.`, `Install what it needs: npm ci. ${kept}`, { cause });
  }
}

/** Packages written as CommonJS ask for Node's own modules by `require`. */
const requireForModules =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);";

/** What a module knows of itself, for what was written as one. */
const urlForScripts = "const moduleUrl = require('node:url').pathToFileURL(__filename).href;";

/** A script has a `require` at hand: the module that would make one need not be loaded. */
const ownRequire: Plugin = {
  name: 'own require',
  setup: (bundler) => {
    bundler.onResolve({ filter: /^node:module$/ }, ({ path }) => ({ path, namespace: 'own-require' }));
    bundler.onLoad({ filter: /./, namespace: 'own-require' }, () => ({
      contents: 'export const createRequire = () => require;',
    }));
  },
};

/** The bundler counts its errors in the first line. */
function firstFault(cause: unknown): string {
  const [count = '', first] = messageOf(cause).split('\n');
  return first ?? count;
}
