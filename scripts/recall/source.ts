import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { cacheFolder } from '../shared/cache-folder.ts';
import { sha256 } from '../shared/thread-id.ts';

/** Where a team's memory is: a folder of this machine, or an address of which this machine keeps a copy. */
export type MemorySource =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'remote'; readonly url: string; readonly cache: string };

/** The parts of a machine that decide where things are. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly cwd: string;
}

/**
 * What `--memory` names. A folder is read as it stands, whatever branch is checked out: it is its owner's. An address
 * (URL, `user@host:path`, or a bare repository's folder) is read from this machine's copy of its default branch.
 */
export function sourceOf(named: string, machine: Machine): MemorySource {
  const folder = resolve(machine.cwd, named.replace(/^~(?=\/|$)/, machine.home));
  const isAddress = /^[A-Za-z][A-Za-z0-9+.-]{1,30}:\/\//.test(named) || (isScp(named) && !existsSync(folder));
  if (isAddress) return remote(named, machine);
  return isBare(folder) ? remote(folder, machine) : { kind: 'folder', folder };
}

function remote(url: string, machine: Machine): MemorySource {
  return { kind: 'remote', url, cache: join(cacheFolder(machine), 'memory', sha256(url).slice(0, 32)) };
}

/** `host:path`, with or without a user; a drive's letter is no host. */
function isScp(text: string): boolean {
  return /^(?:[^@/:\s]{1,256}@)?(?:\[[^\]/\s]{1,100}\]|[^/:@\s]{2,256}):[^\s]/.test(text);
}

function isBare(folder: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));
}
