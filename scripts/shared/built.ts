import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Set by the bundler: when these programs were built, in milliseconds since 1970. */
declare const builtAt: number | undefined;

/** Whether this code runs from programs that `npm run build` made. */
export function isBuilt(): boolean {
  return typeof builtAt === 'number';
}

/** A source that changed after these programs were built, as a path below the repository; null where none did. */
export function newerSource(): string | null {
  if (typeof builtAt !== 'number') return null;
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const isNewer = (path: string) => statSync(join(root, path)).mtimeMs > builtAt;
  const sources = readdirSync(join(root, 'scripts'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join('scripts', path));
  return ['package-lock.json', ...sources].find(isNewer) ?? null;
}

/** What Node needs before it can run a source of ours. */
export function loaderArguments(): string[] {
  return ['--import', import.meta.resolve('tsx')];
}
