import { byBinary, type Files } from '../shared/files.ts';
import { type Block, parseHandbook, scopeOf } from './handbook.ts';
import { everywhere, handbookPath, memorySummaryPath, type Scope, sizeLimits } from './layout.ts';
import { lineHash, normaliseLine } from './lines.ts';
import { summaryHeadings, summarySections } from './summary-sections.ts';
import { unfiledTitle } from './unfiled.ts';
import type { RuleContext } from './violation.ts';

/** Share of the summary that may go to what holds everywhere; the rest is the index of repositories. */
const everywhereShare = 0.45;
const keywordsPerTopic = 6;

/**
 * `memory_summary.md` made by code from the whole tree's handbook: persons' lines of the one that stands, what holds
 * everywhere, then one line a repository with the titles and keywords to search the handbook for. Entries are whole or
 * left out, so that it never exceeds its bound; equal files give equal bytes.
 */
export function buildSummary(files: Files, context: Pick<RuleContext, 'audience' | 'isPersonLine'>): string {
  const { blocks } = parseHandbook(files.get(handbookPath) ?? '');
  const persons = personsLines(files.get(memorySummaryPath) ?? '', context);
  const general = blocks.filter((block) => scopeOf(block) === everywhere);
  const room = roomFor(sizeLimits.summaryCharacters - layOut([], [], [], []).length);
  const profile = room.take(context.audience === 'person' ? persons(summaryHeadings.profile) : []);
  const kept = [summaryHeadings.preferences, summaryHeadings.tips].map((heading) => room.take(persons(heading)));
  const shared = roomFor(Math.min(room.left(), Math.floor(sizeLimits.summaryCharacters * everywhereShare)));
  const preferences = [...(kept[0] ?? []), ...fresh(kept[0] ?? [], shared.take(linesOf(general, ['preferences'])))];
  const tips = [...(kept[1] ?? []), ...fresh(kept[1] ?? [], shared.take(linesOf(general, ['knowledge', 'failures'])))];
  const used = layOut(profile, preferences, tips, []).length;
  const contents = contentsLines(blocks, persons(summaryHeadings.contents), sizeLimits.summaryCharacters - used);
  return layOut(profile, preferences, tips, contents);
}

function personsLines(
  text: string,
  context: Pick<RuleContext, 'isPersonLine'>,
): (heading: string) => readonly string[] {
  const sections = summarySections(text);
  return (heading) =>
    sections
      .filter((section) => section.heading === heading)
      .flatMap(({ lines }) => lines.map((line) => line.text))
      .filter((line) => context.isPersonLine(everywhere, lineHash(line)));
}

interface Room {
  left(): number;
  /** The lines that still fit, each whole; a line too long is passed over. */
  take(lines: readonly string[]): string[];
}

function roomFor(characters: number): Room {
  let left = characters;
  return {
    left: () => left,
    take: (lines) =>
      lines.filter((line) => {
        if (line.length + 1 > left) return false;
        left -= line.length + 1;
        return true;
      }),
  };
}

function linesOf(blocks: readonly Block[], sections: readonly ('preferences' | 'knowledge' | 'failures')[]): string[] {
  const lines = blocks.flatMap((block) => sections.flatMap((name) => block[name].map(({ text }) => `- ${text}`)));
  return [...new Map(lines.map((line) => [normaliseLine(line), line])).values()];
}

function fresh(kept: readonly string[], lines: readonly string[]): string[] {
  const standing = new Set(kept.map(normaliseLine));
  return lines.filter((line) => !standing.has(normaliseLine(line)));
}

/** Each repository gets an equal part of the room; what one leaves over goes to those after it. */
function contentsLines(blocks: readonly Block[], persons: readonly string[], room: number): string[] {
  const scopes = [...new Set(blocks.map(scopeOf))]
    .filter((scope) => scope !== null)
    .filter((scope) => scope !== everywhere);
  scopes.sort(byBinary);
  const lines: string[] = [];
  let left = room;
  for (const [index, scope] of scopes.entries()) {
    const theirs = persons.find((line) => line === `- ${scope}` || line.startsWith(`- ${scope}: `));
    const own = blocks.filter((block) => scopeOf(block) === scope);
    const line = theirs ?? contentsLine(scope, own, Math.floor(left / (scopes.length - index)));
    if (line.length + 1 > left) continue;
    left -= line.length + 1;
    lines.push(line);
  }
  return lines;
}

function contentsLine(scope: Scope, blocks: readonly Block[], room: number): string {
  let line = `- ${scope}`;
  for (const topic of blocks.map(topicOf)) {
    if (topic === '') continue;
    const longer = `${line}${line === `- ${scope}` ? ': ' : '; '}${topic}`;
    if (longer.length + 1 <= room) line = longer;
  }
  return line;
}

/** A block's title and its commonest keywords, as they stand in the handbook. */
function topicOf(block: Block): string {
  const counts = new Map<string, number>();
  for (const word of block.tasks.flatMap(({ keywords }) => keywords)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const words = [...counts]
    .sort(([a, countA], [b, countB]) => countB - countA || byBinary(a, b))
    .slice(0, keywordsPerTopic)
    .map(([word]) => word);
  const title = block.title === unfiledTitle ? '' : block.title;
  if (title === '') return words.join(', ');
  return words.length === 0 ? title : `${title} (${words.join(', ')})`;
}

function layOut(
  profile: readonly string[],
  preferences: readonly string[],
  tips: readonly string[],
  contents: readonly string[],
): string {
  const section = (heading: string, lines: readonly string[]) =>
    lines.length === 0 ? `${heading}\n` : `${heading}\n${lines.join('\n')}\n`;
  return `v1\n\n${[
    section(summaryHeadings.profile, profile),
    section(summaryHeadings.preferences, preferences),
    section(summaryHeadings.tips, tips),
    section(summaryHeadings.contents, contents),
  ].join('\n')}`;
}
