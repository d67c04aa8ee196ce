import type { Forge, RepositoryFacts } from '../publish/forge.ts';
import type { Finding, Look } from './finding.ts';
import { look, shown } from './finding.ts';

/** null: the host has no interface for pull requests that we know. */
export type ForgeLook = Look<RepositoryFacts | null>;

/** @param open the host's interface. @throws UsageError without a token. */
export function lookAtForge(open: () => Forge | null): Promise<ForgeLook> {
  return look(async () => (await open()?.repository()) ?? null);
}

/** What keeps a night from opening its pull request. */
export function forgeFindings(forge: ForgeLook): Finding[] {
  if ('error' in forge)
    return [
      shown('forge.token', forge.error, 'No pull request can be opened, nor what became of the last one be asked.'),
    ];
  const { seen } = forge;
  if (seen === null)
    return [
      {
        severity: 'warning',
        check: 'forge.unknown',
        what: 'This host has no interface for pull requests that we know',
        why: 'The branch is pushed, and somebody has to open the pull request by hand.',
        remedy: 'Set delivery.api_url in .github/memory.yml (it ends in /api/v3 or /api/v4), or delivery.mode: push',
      },
    ];
  if (seen.isArchived)
    return [
      {
        severity: 'error',
        check: 'forge.archived',
        what: `${seen.name} is archived`,
        why: 'Nothing can be pushed or proposed.',
        remedy: 'Settings → General → Unarchive this repository',
      },
    ];
  if (seen.mayPush === false) return [rights(seen.name, 'push')];
  return seen.mayOpenPullRequests === false ? [rights(seen.name, 'open pull requests')] : [];
}

function rights(name: string, what: string): Finding {
  return {
    severity: 'error',
    check: 'forge.rights',
    what: `This token may not ${what} in ${name}`,
    why: 'The night would end before it has proposed anything.',
    remedy:
      'Give it contents and pull requests: write (on GitLab api and write_repository), and switch pull requests on',
  };
}
