import { type GroupBytes, groupSearch } from '../../scripts/workspace/groups-naming.ts';

/** A bullet's words and, where it is no person's own, the sessions that taught it. */
export interface BlockOf {
  readonly repo: string;
  readonly title?: string;
  readonly cwd?: string;
  readonly updatedAt?: string;
  readonly preferences?: readonly string[];
  readonly failures?: readonly string[];
  readonly knowledge?: readonly string[];
}

/** A handbook block as the pipeline writes it. */
export function aBlock({
  repo,
  title = 'Builds',
  cwd = '.',
  updatedAt = '2026-11-29T23:44:06Z',
  ...lines
}: BlockOf): string {
  const section = (heading: string, bullets: readonly string[] = []) =>
    bullets.length === 0 ? '' : `\n## ${heading}\n${bullets.map((bullet) => `- ${bullet}\n`).join('')}`;
  return [
    `# Task Group: ${title}\nscope: how it is built\napplies_to: repo=${repo}; cwd=${cwd}; reuse_rule=when building\n`,
    `\n## Task 1: fix the build, success\n### rollout_summary_files\n`,
    `- rollout_summaries/a.md (cwd=., rollout_path=2026/11/29/t.jsonl, updated_at=${updatedAt}, thread_id=t-${updatedAt})\n`,
    '### keywords\n- build, tests\n',
    section('User preferences', lines.preferences),
    section('Reusable knowledge', lines.knowledge),
    section('Failures and how to do differently', lines.failures),
  ].join('');
}

export function aHandbook(...blocks: readonly BlockOf[]): string {
  return blocks.map(aBlock).join('\n');
}

export interface SummaryOf {
  readonly preferences?: readonly string[];
  readonly tips?: readonly string[];
  readonly contents?: readonly string[];
}

export function aSummary({ preferences = [], tips = [], contents = [] }: SummaryOf): string {
  const section = (heading: string, lines: readonly string[]) =>
    `## ${heading}\n${lines.map((line) => `- ${line}\n`).join('')}`;
  return `v1\n\n${[
    section('User Profile', []),
    section('User preferences', preferences),
    section('General Tips', tips),
    section("What's in Memory", contents),
  ].join('\n')}`;
}

/** The task groups that a search finds in a handbook that comes as a whole. */
export function groupsIn(handbook: string, scopes: readonly string[]): readonly GroupBytes[] {
  const { found, search } = groupSearch(scopes);
  search(Buffer.from(handbook), true);
  return found;
}
