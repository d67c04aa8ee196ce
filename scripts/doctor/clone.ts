import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { lstatOrNull } from '../git/layout.ts';
import { lacksHistory } from '../git/remote-history.ts';
import type { Repository } from '../git/types.ts';
import type { Finding } from './finding.ts';

export interface CloneFacts {
  readonly isShallow: boolean;
  /** Files of ours that are checked out with CRLF. */
  readonly crlf: readonly string[];
  /** What keeps the merge driver from working; empty where nothing does. */
  readonly mergeFaults: readonly string[];
}

/** @param paths where our files are. */
export async function cloneFacts(
  repository: Repository,
  paths: readonly string[],
  mergeFaults: () => Promise<readonly string[]>,
): Promise<CloneFacts> {
  const { oid } = await repository.head();
  const files = oid === null ? [] : [...(await repository.listFiles(oid, paths)).keys()];
  return {
    isShallow: oid !== null && (await lacksHistory(repository, oid, null)),
    crlf: await withCrlf(repository.workTree, files),
    mergeFaults: await mergeFaults(),
  };
}

/** Line ends are alike in a whole file, so its beginning is enough. */
const lookedAtBytes = 4_096;

async function withCrlf(workTree: string | null, files: readonly string[]): Promise<string[]> {
  if (workTree === null) return [];
  const found: string[] = [];
  for (const path of files) {
    const place = join(workTree, path);
    if ((await lstatOrNull(place))?.isFile() && (await beginning(place)).includes('\r\n')) found.push(path);
  }
  return found;
}

async function beginning(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(lookedAtBytes), 0, lookedAtBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** What is wrong with the clone itself. */
export function cloneFindings({ isShallow, crlf, mergeFaults }: CloneFacts): Finding[] {
  const found: Finding[] = [];
  if (isShallow)
    found.push({
      severity: 'warning',
      check: 'clone.shallow',
      what: 'This clone is shallow',
      why: 'What was merged, and whose a line is, is found in the history: what is not here is not seen.',
      remedy: 'git fetch --unshallow (in a workflow: fetch-depth: 0; in GitLab CI: GIT_DEPTH: "0")',
    });
  if (crlf.length > 0)
    found.push({
      severity: 'warning',
      check: 'clone.crlf',
      what: `${crlf.length} files of the memory are checked out with CRLF, such as ${crlf[0] ?? ''}`,
      why: 'Editors and merges then change every line, and every line becomes a person’s.',
      remedy:
        'Have “* text=auto eol=lf” in .gitattributes, then: git rm -r --cached --quiet memories state.sqlite.json && git reset --hard',
    });
  for (const fault of mergeFaults)
    found.push({
      severity: 'warning',
      check: 'clone.merge_driver',
      what: fault.replace(/: npm run [^:]*$/, ''),
      why: 'A local merge of state.sqlite.json then goes line by line and may leave a text that is no state.',
      remedy: fault.includes('.gitattributes')
        ? 'Add the line to .gitattributes and commit it, then: npm run merge-driver -- install'
        : 'npm run merge-driver -- install',
    });
  return found;
}
