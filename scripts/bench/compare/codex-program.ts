import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { UsageError } from '../../shared/errors.ts';
import type { World } from '../../shared/main.ts';

/** The version whose memories were measured. An older one has none of this kind; a newer one is tried. */
export const measuredVersion = '0.171.0';

export interface CodexProgram {
  readonly path: string;
  readonly version: string;
}

/**
 * `--codex`, else the variable `CTM_CODEX`, else `codex` on the `PATH`. Either may be the program, or the folder that
 * npm installed it into.
 * @throws UsageError where it is missing or too old.
 */
export async function findCodex({ flags, env, cwd }: Pick<World, 'flags' | 'env' | 'cwd'>): Promise<CodexProgram> {
  const named = flags.valueOf('codex') ?? env.CTM_CODEX;
  const candidates =
    named === undefined
      ? (env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'codex'))
      : ['node_modules/.bin/codex', 'bin/codex', 'codex', ''].map((inside) => resolve(cwd, named, inside));
  for (const path of candidates) if (await runs(path)) return { path, version: await versionOf(path) };
  throw new UsageError(
    named === undefined ? 'There is no codex on the PATH.' : `There is no codex at ${named}.`,
    `Install it into a folder of its own and name that: npm install --prefix <dir> @openai/codex@${measuredVersion}, then --codex <dir>.`,
  );
}

async function runs(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}

/** @throws UsageError for a program that is not Codex, and for one that is too old. */
async function versionOf(path: string): Promise<string> {
  const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 20_000 }).catch((cause: unknown) => {
    throw new UsageError(`${path} does not say its version.`, 'Name another program with --codex.', { cause });
  });
  const version = /^codex\S* (\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  if (version === undefined)
    throw new UsageError(
      `${path} is not Codex: its version is “${stdout.trim().slice(0, 80)}”.`,
      'Name another program with --codex.',
    );
  if (isOlder(version, measuredVersion))
    throw new UsageError(
      `Codex ${version} is too old: its memories can be compared from ${measuredVersion} on.`,
      `Install that: npm install --prefix <dir> @openai/codex@${measuredVersion}, then --codex <dir>.`,
    );
  return version;
}

/** Both `1.2.3`. */
export function isOlder(version: string, than: string): boolean {
  const [a, b] = [version, than].map((text) => text.split('.').map(Number));
  const at = [0, 1, 2].find((index) => a?.[index] !== b?.[index]) ?? 0;
  return (a?.[at] ?? 0) < (b?.[at] ?? 0);
}
