import { createHash } from 'node:crypto';
import type { Oid } from '../shared/files.ts';
import type { ForgeKind } from './forge.ts';

/** Where a reviewer sees the change, before there is a number to name it by. */
export interface Links {
  compare(): string;
  /** The file's place in the comparison. */
  file(path: string): string;
}

/**
 * Addresses of the comparison from where the branch left its base. GitHub's anchors are the sha256 of the path, GitLab's
 * the sha1.
 * @param url the repository's own address, without a slash at the end.
 */
export function linksOf(kind: ForgeKind, url: string, base: Oid, tip: Oid): Links {
  const compare = `${url}${kind === 'gitlab' ? '/-' : ''}/compare/${base}...${tip}`;
  return {
    compare: () => compare,
    file: (path) =>
      kind === 'gitlab' ? `${compare}#${digest('sha1', path)}` : `${compare}#diff-${digest('sha256', path)}`,
  };
}

function digest(algorithm: 'sha1' | 'sha256', path: string): string {
  return createHash(algorithm).update(path).digest('hex');
}
