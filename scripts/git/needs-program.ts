import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isOn } from './config-text.ts';
import type { Layout } from './layout.ts';

/** Why only the git program can use this repository, as the rest of a sentence; null for a plain one. What its index
 * needs, `index-file.ts` says when it reads it. */
export function whatNeedsTheProgram({ config, gitDir, commonDir, format }: Layout): string | null {
  if (gitDir !== commonDir) return 'is a linked worktree';
  if (format !== 'sha1') return 'uses SHA-256';
  const extension = [...config.keys()].find((key) => key.startsWith('extensions.') && !harmless(key, config.get(key)));
  if (extension !== undefined) return `uses ${extension}`;
  if ([...config.keys()].some((key) => /^remote\..*\.(?:promisor|partialclonefilter)$/.test(key)))
    return 'is a partial clone';
  if (existsSync(join(commonDir, 'objects/info/alternates'))) return 'borrows objects from another repository';
  if (isOn(config, 'core.sparsecheckout')) return 'is a sparse checkout';
  if (isOn(config, 'core.splitindex')) return 'has a split index';
  return null;
}

function harmless(key: string, value: string | undefined): boolean {
  const ordinary: Readonly<Record<string, readonly string[]>> = {
    'extensions.objectformat': ['sha1'],
    'extensions.refstorage': ['files'],
    'extensions.noop': [value ?? ''],
    'extensions.preciousobjects': [value ?? ''],
  };
  return ordinary[key]?.includes(value ?? '') ?? false;
}
