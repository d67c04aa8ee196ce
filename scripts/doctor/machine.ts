import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Layout } from '../git/layout.ts';
import { gitProgram } from '../git/program.ts';
import { gitVersion, isOlderGit, oldestGit } from '../git/remote.ts';
import type { Finding } from './finding.ts';

export interface MachineFacts {
  /** Such as `20.11.1`. */
  readonly node: string;
  /** null where it is not installed. */
  readonly git: readonly number[] | null;
}

/** @param program Node's own path. */
export async function machineFacts(
  layout: Layout,
  program: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<MachineFacts> {
  const { stdout } = await promisify(execFile)(program, ['--version']);
  return { node: stdout.trim().replace(/^v/, ''), git: await gitVersion(gitProgram(layout, env)) };
}

/** What package.json asks for. */
const oldestNode = 20;

/** Versions that are too old. */
export function machineFindings({ node, git }: MachineFacts): Finding[] {
  const found: Finding[] = [];
  if (Number.parseInt(node, 10) < oldestNode)
    found.push({
      severity: 'error',
      check: 'machine.node',
      what: `Node ${node} is too old`,
      why: `The scripts need Node ${oldestNode} or newer.`,
      remedy: `Install it: https://nodejs.org, or nvm install ${oldestNode}`,
    });
  if (git === null || isOlderGit(git))
    found.push({
      severity: 'warning',
      check: 'machine.git',
      what: git === null ? 'The git program is not installed' : `git ${git.join('.')} is too old`,
      why: 'Without it only https remotes with a token can be reached, and pushes are larger.',
      remedy: `Install git ${oldestGit.join('.')} or newer: https://git-scm.com`,
    });
  return found;
}
