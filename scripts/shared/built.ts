import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sha256 } from './thread-id.ts';

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

/** Changes whenever what these folders of `scripts/` hold does, or these programs are built anew. */
export function programMark(folders: readonly string[]): string {
  if (typeof builtAt === 'number') return `built ${builtAt}`;
  const scripts = fileURLToPath(new URL('..', import.meta.url));
  const sources = folders.flatMap((folder) =>
    readdirSync(join(scripts, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .sort()
      .map((name) => [folder, name, readFileSync(join(scripts, folder, name), 'utf8')]),
  );
  return sha256(JSON.stringify(sources));
}

/** What Node needs before it can run a source of ours. */
export function loaderArguments(): string[] {
  return ['--import', import.meta.resolve('tsx')];
}
