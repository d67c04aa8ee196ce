import { terminalText } from '../shared/escape.ts';
import { byBinary } from '../shared/files.ts';
import type { Leftover } from './verify.ts';

/** Something that a person has to do, in order. */
export interface Step {
  readonly why: string;
  /** To be pasted into a shell as they are; none where it is done elsewhere. */
  readonly commands: readonly string[];
}

export interface Situation {
  readonly leftovers: readonly Leftover[];
  /** Where the branch is the remote's, its address; null where the nights write to this clone. */
  readonly clonesOf: string | null;
  readonly hasRemote: boolean;
  /** The branch that people read, in short; null in a bare or detached repository without a remote. */
  readonly base: string | null;
  /** The rolling branch, in short, where a pull request is open or the branch stands; null elsewhere. */
  readonly proposal: string | null;
  readonly pullRequest: { readonly number: number; readonly url: string } | null;
}

/** What is left to do with one's own hands; nothing where no ref holds it any more. */
export function steps(situation: Situation): Step[] {
  const { leftovers, base, clonesOf: url } = situation;
  if (leftovers.length === 0) return [];
  const shared = leftovers.filter(({ remote }) => remote === (url !== null));
  const inBase = shared.filter(({ ref }) => ref === `refs/heads/${base}`);
  const onRemote = (ref: string) => url !== null && shared.some((one) => one.ref === ref);
  const proposal = situation.proposal === null ? null : `refs/heads/${situation.proposal}`;
  const others = shared.filter(({ ref }) => ref !== `refs/heads/${base}` && ref !== proposal);
  return [
    ...(situation.pullRequest === null ? [] : [mergeStep(situation.pullRequest)]),
    ...(inBase.length === 0 || base === null ? [] : [rewriteStep(base, url, pathsOf(inBase))]),
    ...(proposal !== null && onRemote(proposal) ? [deleteStep([proposal], 'its proposal is merged or closed')] : []),
    ...otherSteps(others, url),
    ...(url === null ? publishSteps(leftovers, base) : []),
    ...localSteps(leftovers, situation),
    {
      why: 'look again: run this very command once more. It ends with 0 when no ref holds it',
      commands: [],
    },
    {
      why: 'then let go of the objects that no ref reaches, in each clone',
      commands: ['git reflog expire --expire=now --all', 'git gc --quiet --prune=now'],
    },
  ];
}

/** What no command of ours reaches. */
export function elsewhere({ hasRemote }: Pick<Situation, 'hasRemote'>, isWholeThread: boolean): string[] {
  return [
    ...(!hasRemote
      ? []
      : [
          'the host: its own refs of pull requests, their texts and comments, forks, cached pages, search: ask its support to remove them',
          'the host: logs and artifacts (journal, night-start, night-result) of the nightly workflow: delete the runs, or wait until they expire',
        ]),
    'people: every other clone, worktree and backup keeps its history until it is cloned anew or cleaned as above',
    isWholeThread
      ? 'people: the transcripts in the agents’ own folders. A laptop that lists the session as opt_out does not even read it'
      : 'people: the transcripts in the agents’ own folders of their laptops',
    'the model’s server: what was sent to it, as long as it keeps requests',
  ];
}

function mergeStep({ number, url }: { readonly number: number; readonly url: string }): Step {
  return {
    why: `merge pull request ${number} (${terminalText(url)}): it takes the words from the memory that people read`,
    commands: [],
  };
}

/**
 * The history without these files, then the files as they stand, on top: what people did elsewhere stays told. Commits
 * get new names, so whoever has open branches bases them anew.
 */
function rewriteStep(base: string, url: string | null, paths: readonly string[]): Step {
  const branch = quoted(base);
  const files = paths.map(quoted).join(' ');
  const clone = `git clone --quiet --no-local --branch ${branch} ${quoted(url ?? '')} purge && cd purge`;
  const publish = `git push --force-with-lease=${branch}:"$OLD" origin HEAD:refs/heads/${branch}`;
  return {
    why: `write the history of ${terminalText(base)} anew, without ${paths.length} files that held it (${url === null ? 'commit your work first' : 'in a clone of its own; let protected branches be forced meanwhile'})`,
    commands: [
      ...(url === null ? [] : [clone]),
      'export GIT_LITERAL_PATHSPECS=1 FILTER_BRANCH_SQUELCH_WARNING=1 LISTED="$(git rev-parse --absolute-git-dir)/forgotten-paths"',
      `printf '%s\\n' ${files} > "$LISTED"`,
      'OLD="$(git rev-parse HEAD)" TREE="$(git rev-parse \'HEAD^{tree}\')"',
      'git filter-branch -f --index-filter \'git rm -r --quiet --cached --ignore-unmatch --pathspec-from-file="$LISTED"\' HEAD',
      'git reset --quiet --hard "$(git commit-tree "$TREE" -p HEAD -m \'memory: as it stood\')"',
      "git for-each-ref --format='delete %(refname)' refs/original/ | git update-ref --stdin",
      ...(url === null ? [] : [publish, 'cd ..']),
    ],
  };
}

function deleteStep(refs: readonly string[], when: string): Step {
  return { why: `once ${when}`, commands: refs.map((ref) => `git push origin --delete ${quoted(ref)}`) };
}

/** Branches and tags of people: theirs to decide about. */
function otherSteps(others: readonly Leftover[], url: string | null): Step[] {
  const refs = [...new Set(others.map(({ ref }) => ref))].filter((ref) => /^refs\/(?:heads|tags)\//.test(ref));
  if (refs.length === 0) return [];
  const commands = refs.map((ref) =>
    url === null ? `git update-ref -d ${quoted(ref)}` : `git push origin --delete ${quoted(ref)}`,
  );
  return [{ why: 'once whoever owns these branches and tags has moved what is still wanted', commands }];
}

/** What was pushed from a clone that the nights write to. */
function publishSteps(leftovers: readonly Leftover[], base: string | null): Step[] {
  const refs = new Set(leftovers.filter(({ remote }) => remote).map(({ ref }) => ref));
  const commands = [...refs]
    .filter((ref) => /^refs\/(?:heads|tags)\//.test(ref))
    .map((ref) =>
      ref === `refs/heads/${base}`
        ? `git push --force-with-lease origin ${quoted(base ?? '')}`
        : `git push origin --delete ${quoted(ref)}`,
    );
  return commands.length === 0 ? [] : [{ why: 'then on the remote', commands }];
}

function localSteps(leftovers: readonly Leftover[], { clonesOf: url, base }: Situation): Step[] {
  const local = new Set(leftovers.filter(({ remote }) => !remote).map(({ ref }) => ref));
  const own = [...local].filter(
    (ref) => ref.startsWith('refs/memory/') || ref === 'refs/stash' || ref.startsWith('refs/original/'),
  );
  const heads = url === null ? [] : [...local].filter((ref) => /^refs\/(?:heads|tags)\//.test(ref));
  const isTracked = [...local].some((ref) => ref.startsWith('refs/remotes/'));
  const commands = [
    ...own.map((ref) => `git update-ref -d ${quoted(ref)}`),
    ...(isTracked || heads.length > 0 ? ['git fetch --quiet --prune origin'] : []),
    ...heads.map((ref) =>
      ref === `refs/heads/${base}`
        ? `git switch --quiet ${quoted(base ?? '')} && git reset --quiet --hard ${quoted(`origin/${base}`)}`
        : `git update-ref -d ${quoted(ref)}`,
    ),
  ];
  if (commands.length === 0) return [];
  return [{ why: 'in this clone, once nothing here is only yours', commands }];
}

function pathsOf(leftovers: readonly Leftover[]): string[] {
  return [...new Set(leftovers.flatMap(({ path }) => (path === null ? [] : [path])))].sort(byBinary);
}

/** One word of a shell, whatever is in it. */
export function quoted(word: string): string {
  return /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
