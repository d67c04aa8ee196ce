import { handbookPath, memorySummaryPath } from '../../scripts/workspace/layout.ts';
import { a, aReference, b, c, first, otherRepo, repo, second } from './samples.ts';

/** Seeded: the same seed gives the same draws. */
export interface Lots {
  below(count: number): number;
  of<T>(list: readonly T[], otherwise: T): T;
}

export function lotsFrom(seed: number): Lots {
  let state = (seed * 2_654_435_761 + 12_345) >>> 0;
  const below = (count: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  return { below, of: (list, otherwise) => list[below(list.length)] ?? otherwise };
}

interface Section {
  heading: string;
  items: string[];
}

interface Group {
  head: string;
  sections: Section[];
}

/** A handbook and a summary that can be edited and written down. */
export interface Draft {
  preamble: string;
  groups: Group[];
  tips: string[];
}

export function aDraft(lots: Lots): Draft {
  const draft: Draft = { preamble: lots.below(2) === 0 ? '' : 'Read me first.\n\n', groups: [], tips: [] };
  const count = 1 + lots.below(4);
  for (let at = 0; at < count; at += 1) draft.groups.push(aGroup(lots, `Topic ${at}`));
  for (let at = lots.below(4); at > 0; at -= 1) draft.tips.push(aBullet(lots));
  return draft;
}

/** Up to six edits of every kind; `who` makes the lines that two sides add differ, mostly. */
export function edited(draft: Draft, lots: Lots, who: string): Draft {
  const next: Draft = structuredClone(draft);
  for (let edits = lots.below(7); edits > 0; edits -= 1) edit(next, lots, who);
  return next;
}

export function written({ preamble, groups, tips }: Draft): Map<string, string> {
  const blocks = groups.map(({ head, sections }) =>
    [head, ...sections.map(({ heading, items }) => `${heading}\n${items.join('\n')}`.trimEnd())].join('\n\n'),
  );
  const files = new Map([[memorySummaryPath, `v1\n\n## General Tips\n${tips.join('\n')}\n\n## What's in Memory\n`]]);
  if (blocks.length > 0) files.set(handbookPath, `${preamble}${blocks.join('\n\n')}\n`);
  return files;
}

const words = 'cache port mirror lock build test deploy token branch review queue index schema proxy alias label'.split(
  ' ',
);
const headings = ['## User preferences', '## Reusable knowledge', '## Failures and how to do differently'];

function aGroup(lots: Lots, title: string): Group {
  const scope = lots.of([repo, repo, otherRepo, '*'], repo);
  const isOwn = lots.below(6) === 0;
  const thread = lots.of([first, second], first);
  const task = `## Task 1: ${title}, success\n### rollout_summary_files\n${aReference(thread)}\n### keywords\n- ${words[lots.below(8)]}, tests`;
  const head = isOwn
    ? `# ${title}\n\nWritten by hand about ${title}.`
    : `# Task Group: ${title}\nscope: things\napplies_to: repo=${scope}; cwd=.; reuse_rule=here\n\n${task}`;
  const sections = headings.map((heading) => ({ heading, items: [] as string[] }));
  for (const section of sections) for (let at = lots.below(4); at > 0; at -= 1) section.items.push(aLine(lots));
  if (lots.below(4) === 0) sections.push({ heading: '## House rules', items: ['', aProse(lots)] });
  return { head, sections: sections.filter(({ items }) => items.length > 0) };
}

function aLine(lots: Lots): string {
  const kind = lots.below(12);
  if (kind === 0) return `\n${aProse(lots)}`;
  if (kind === 1) return `${aBullet(lots)}\n  and more of it: ${aPhrase(lots)}`;
  if (kind === 2) return `\n\`\`\`sh\n${aPhrase(lots)}\n\n- ${aPhrase(lots)}\n\`\`\``;
  return aBullet(lots);
}

function aBullet(lots: Lots): string {
  return `- ${aPhrase(lots)}${someEvidence(lots)}`;
}

function aProse(lots: Lots): string {
  return `Mind the ${aPhrase(lots)}.`;
}

function aPhrase(lots: Lots): string {
  return Array.from({ length: 3 + lots.below(5) }, () => lots.of(words, 'word')).join(' ');
}

function someEvidence(lots: Lots): string {
  if (lots.below(5) === 0) return '';
  const items = Array.from({ length: 1 + lots.below(2) }, () => 1 + lots.below(40));
  return ` [${lots.of([a, b, c], a)}@${[...new Set(items)].join(',')}]`;
}

function edit(draft: Draft, lots: Lots, who: string): void {
  const groupAt = lots.below(draft.groups.length);
  const group = draft.groups[groupAt];
  const section = group?.sections[lots.below(group.sections.length)];
  const at = section === undefined ? 0 : lots.below(section.items.length);
  const kind = lots.below(15);
  if (kind === 0)
    draft.groups.splice(lots.below(draft.groups.length + 1), 0, aGroup(lots, `New ${who} ${lots.below(99)}`));
  else if (kind === 1) draft.tips.splice(lots.below(draft.tips.length + 1), lots.below(2), `- ${who} ${aPhrase(lots)}`);
  else if (kind === 2) draft.preamble = `${who} says hello.\n\n`;
  else if (group === undefined) return;
  else if (kind === 3) draft.groups.splice(groupAt, 1);
  else if (kind === 4) group.head = group.head.replace(/^(# .*)/, `$1 ${who}`);
  else if (kind === 5) draft.groups.push(...draft.groups.splice(groupAt, 1));
  else if (kind === 6) group.head = group.head.replace(', tests', `, tests, ${who}`);
  else if (section === undefined) return;
  else if (kind === 7) group.sections.splice(group.sections.indexOf(section), 1);
  else if (kind === 8) section.items.push(...section.items.splice(at, 1));
  else if (kind === 9) moveElsewhere(draft, section, at, lots);
  else if (kind <= 11) section.items.splice(at, 0, aLine(lots).replace(/(- |Mind the )/, `$1${who} `));
  else if (kind === 12) section.items.splice(at, 1);
  else section.items.splice(at, 1, ...section.items.slice(at, at + 1).map((line) => reworded(line, lots, who)));
}

function moveElsewhere(draft: Draft, from: Section, at: number, lots: Lots): void {
  const group = draft.groups[lots.below(draft.groups.length)];
  const to = group?.sections[lots.below(group.sections.length)];
  to?.items.splice(lots.below(to.items.length + 1), 0, ...from.items.splice(at, 1));
}

function reworded(line: string, lots: Lots, who: string): string {
  if (!line.startsWith('- ')) return line.replace(/(Mind the |sh\n)/, `$1${who} `);
  const kind = lots.below(4);
  if (kind === 0) return line.replace(/ \[[^\]]*\]/, '');
  if (kind === 1) return `${line}${someEvidence(lots)}`;
  if (kind === 2) return line.replace(/^- \S+/, `- ${who}`);
  return line.replace(/^- [^[\n]*/, `- ${who} ${aPhrase(lots)} `);
}
