import type { State } from '../state/database.ts';
import { threadByShortId } from '../state/threads.ts';
import { claimsOf } from '../workspace/claims.ts';
import { handbookPath } from '../workspace/layout.ts';
import type { Finding } from './finding.ts';
import type { PlacedBullet } from './pairs.ts';
import { remedyOf } from './remedies.ts';
import type { AtHand } from './repositories.ts';

/** What became of the files and names that lines show, since the sessions that they are from. */
export interface Freshness {
  readonly fresh: number;
  readonly changed: number;
  readonly gone: number;
  /** The commit of the session, or the repository's contents, are not at hand. */
  readonly unknown: number;
  readonly findings: readonly Finding[];
}

/** At most so many are told of; the counts hold them all. */
const mostTold = 20;

/**
 * Compares files and names in the code spans of lines with the repository. A file is fresh where it is as at the
 * session's commit, changed where it has other contents, gone where it stood there then and does not now. A name is
 * gone where some file held it then and none does now.
 */
export async function freshnessOf(
  bullets: readonly PlacedBullet[],
  repositories: readonly AtHand[],
  state: State,
): Promise<Freshness> {
  const counts = { fresh: 0, changed: 0, gone: 0, unknown: 0 };
  const findings: Finding[] = [];
  for (const bullet of bullets) {
    const repository = repositories.find(({ ids }) => ids.includes(bullet.scope));
    if (repository === undefined) continue;
    const commits = bullet.evidence.flatMap(({ thread }) => threadByShortId(state, thread)?.commit ?? []);
    for (const { text } of claimsOf(bullet.text).codes) {
      const was = await standingOf(text, commits, repository);
      if (was === null) continue;
      counts[was] += 1;
      if (was === 'gone' && findings.length < mostTold)
        findings.push({
          severity: 'warning',
          rule: 'source.gone',
          path: handbookPath,
          line: bullet.line,
          message: `“${text.slice(0, 120)}” stood in the repository when the session took place and does not now.`,
          remedy: remedyOf('source.gone'),
        });
    }
  }
  return { ...counts, findings };
}

type Standing = 'fresh' | 'changed' | 'gone' | 'unknown';

/** null for what is neither a file's path nor a name. */
async function standingOf(code: string, commits: readonly string[], repository: AtHand): Promise<Standing | null> {
  const path = code.replace(/^\.\//, '').replace(/:\d+(?:[:-]\d+)?$/, '');
  if (/^[\w@.-][\w@./-]{0,300}$/.test(path) && /[./]/.test(path) && !path.endsWith('/'))
    return pathStanding(path, commits, repository);
  const name = /^([A-Za-z_$][\w$]{3,80})(?:\(\))?$/.exec(code)?.[1];
  if (name === undefined || !/[a-z][A-Z]|_|\(\)$/.test(code)) return null;
  if ((await repository.holdsName(name, repository.head)) !== false) return 'fresh';
  for (const commit of commits) if (await repository.holdsName(name, commit)) return 'gone';
  return 'unknown';
}

async function pathStanding(path: string, commits: readonly string[], repository: AtHand): Promise<Standing | null> {
  const now = (await repository.filesAt(repository.head)) ?? new Map<string, string>();
  for (const commit of commits) {
    const then = await repository.filesAt(commit);
    const was = then?.get(path);
    if (then === null || was === undefined) continue;
    const is = now.get(path);
    if (is === undefined) return 'gone';
    return is === was ? 'fresh' : 'changed';
  }
  return now.has(path) || /\.\w{1,8}$/.test(path) ? 'unknown' : null;
}
