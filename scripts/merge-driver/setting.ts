import type { RunGit } from '../git/program.ts';
import { output } from '../git/program.ts';
import { MemoryError } from '../shared/errors.ts';
import { statePath } from '../state/current.ts';

/** The driver's name, as `.gitattributes` gives it to the published copy. */
export const driverName = 'memory-state';

/** Where the program is: both are absolute. */
export interface DriverPlace {
  /** Entry script. */
  readonly script: string;
  /** File URL of the loader that lets Node read it. */
  readonly loader: string;
}

/**
 * The driver as Git's configuration holds it: Git hands it to a shell from the top of the working tree. `node` is found
 * on the PATH, so that it outlives a newer Node; the script is this checkout's.
 */
export function driverCommand({ script, loader }: DriverPlace): string {
  return `node --import ${quoted(loader)} ${quoted(script)} run %O %A %B %P`;
}

/** Writes the driver into this clone's configuration, which its worktrees share. */
export async function install(git: RunGit, command: string): Promise<void> {
  const settings = [
    ['name', 'the copy with the later night wins whole'],
    ['driver', command],
    ['recursive', 'binary'],
  ] as const;
  for (const [name, value] of settings) {
    const { code, stderr } = await git(['config', '--local', `merge.${driverName}.${name}`, value]);
    if (code !== 0)
      throw new MemoryError(
        `The driver was not installed: ${stderr.trim()}`,
        'Check who may write .git/config and whether .git/config.lock is left over.',
      );
  }
}

/** What keeps the driver from working in this clone, with the remedy; empty where nothing does. */
export async function faults(git: RunGit, command: string): Promise<string[]> {
  const found: string[] = [];
  const attribute = (await output(git, ['check-attr', '-z', 'merge', '--', statePath])).toString('utf8').split('\0')[2];
  if (attribute !== driverName)
    found.push(
      `.gitattributes does not give ${statePath} to the driver: it needs the line “${statePath} merge=${driverName}”.`,
    );
  const { stdout, code } = await git(['config', '--get', `merge.${driverName}.driver`]);
  const present = code === 0 ? stdout.toString('utf8').replace(/\n$/, '') : null;
  if (present === null) found.push('This clone has no driver: npm run merge-driver -- install.');
  else if (present !== command)
    found.push('This clone’s driver is that of another checkout or version: npm run merge-driver -- install.');
  return found;
}

/** For a shell, and for Git, which replaces `%` and a letter. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`).replaceAll('%', '%%')}'`;
}
