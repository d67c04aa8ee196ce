import { type Fields, textOf } from './fields.ts';
import type { Session } from './reader.ts';

type Place = Pick<Session, 'cwd' | 'branch' | 'commit' | 'remote'>;

export const nowhere: Place = { cwd: null, branch: null, commit: null, remote: null };

/** A session's place after what one more event says of it: the first folder, commit and remote, and the last branch. */
export function withContext(place: Place, context: Fields): Place {
  return {
    cwd: place.cwd ?? textOf(context.cwd),
    branch: textOf(context.branch) ?? place.branch,
    commit: place.commit ?? textOf(context.headCommit),
    remote: place.remote ?? remoteOf(context),
  };
}

/** `owner/name`, or `organisation/project/name` of Azure DevOps, as the remote's URL. */
function remoteOf({ repository, repositoryHost, hostType }: Fields): string | null {
  const path = textOf(repository);
  if (path === null || !/^[^\s/]{1,200}(?:\/[^\s/]{1,200}){1,3}$/.test(path)) return null;
  const host = textOf(repositoryHost) ?? usualHost(hostType);
  if (host === null) return null;
  const [organisation, project, name] = path.split('/');
  const isAzure = hostType === 'ado' && name !== undefined;
  return `https://${host}/${isAzure ? `${organisation}/${project}/_git/${name}` : path}`;
}

function usualHost(hostType: unknown): string | null {
  if (hostType === 'github') return 'github.com';
  return hostType === 'ado' ? 'dev.azure.com' : null;
}
