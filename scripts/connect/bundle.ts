import { build } from 'esbuild';
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
  try {
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: [entry],
      ...(form === 'module'
        ? { format: 'esm', define: texts, banner: { js: requireForModules } }
        : { format: 'cjs', define: { ...texts, 'import.meta.url': 'moduleUrl' }, banner: { js: urlForScripts } }),
      bundle: true,
      write: false,
      platform: 'node',
      target: 'node20',
      charset: 'utf8',
      legalComments: 'inline',
      logLevel: 'silent',
    });
    return outputFiles[0]?.text ?? '';
  } catch (cause) {
    throw new MemoryError(
      `${entry} could not be made into one file: ${messageOf(cause).split('\n')[0]}.`,
      'Install what it needs: npm ci. Nothing was connected.',
      { cause },
    );
  }
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
  try {
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: [entry],
      bundle: true,
      minify: true,
      write: false,
      platform: 'browser',
      format: 'iife',
      target: 'es2022',
      legalComments: 'inline',
      logLevel: 'silent',
    });
    return outputFiles[0]?.text.trim() ?? '';
  } catch (cause) {
    throw new MemoryError(
      `${entry} could not be made into a part of a page: ${messageOf(cause).split('\n')[0]}.`,
      'Install what it needs: npm ci. Nothing was written.',
      { cause },
    );
  }
}

/** Packages written as CommonJS ask for Node's own modules by `require`. */
const requireForModules =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);";

/** What a module knows of itself, for what was written as one. */
const urlForScripts = "const moduleUrl = require('node:url').pathToFileURL(__filename).href;";
