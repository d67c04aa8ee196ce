import { isoTime } from '../shared/clock.ts';
import type { RunRow } from '../state/types.ts';
import type { Brush } from './brush.ts';
import type { CommitFacts } from './maker.ts';

/** Who did it, in which commit, through which pull request, in which run. */
export function commitLines(verb: string, facts: CommitFacts, closed: ReadonlySet<string>, brush: Brush): string[] {
  const { commit, maker, run, pullRequest, via } = facts;
  const author = `${commit.author.name} <${commit.author.email}>`;
  const who = maker.kind === 'run' ? `run ${maker.runId}` : author;
  const rows = [
    `${brush.strong(verb)}  ${isoTime(commit.at)} by ${brush.plain(who)}, commit ${commit.oid.slice(0, 12)}`,
  ];
  if (maker.kind === 'run' && maker.by === 'trailer')
    rows.push(`  ${brush.quiet('as the commit’s own trailer says; the state has no record of this commit')}`);
  if (maker.kind === 'person' && maker.claims !== null)
    rows.push(`  ${brush.warn(`its message names run ${maker.claims}, and the state does not confirm that`)}`);
  for (const passage of via) {
    const by = `${passage.commit.author.name} <${passage.commit.author.email}>`;
    const verbs = { merge: 'merged', squash: 'squashed or rebased' };
    rows.push(
      `  ${brush.quiet(verbs[passage.kind])}  ${isoTime(passage.commit.at)} by ${brush.plain(by)}, commit ${passage.commit.oid.slice(0, 12)}`,
    );
  }
  if (pullRequest !== null) {
    const { number, url } = pullRequest;
    const fate = closed.has(String(number)) ? ' (closed without a merge)' : '';
    rows.push(`  ${brush.quiet('pull request')}  #${number}${url === null ? '' : ` ${brush.plain(url)}`}${fate}`);
  }
  if (run !== null) rows.push(`  ${brush.quiet('run')}  ${brush.plain(runText(run))}`);
  else if (maker.kind === 'run') rows.push(`  ${brush.quiet('run')}  the state no longer lists it`);
  return rows;
}

function runText({ startedAt, outcome, models, promptsHash, usage }: RunRow): string {
  const sum = (name: string) => Object.values(usage).reduce((total, sums) => total + (sums[name] ?? 0), 0);
  const spent = sum('micro_usd') === 0 ? '' : `, $${(sum('micro_usd') / 1_000_000).toFixed(2)}`;
  return `${isoTime(startedAt)}, ${outcome}; model ${models}; prompts ${promptsHash}; tokens ${sum('input')} in, ${sum('output')} out${spent}`;
}
