import { contextText } from '../shared/escape.ts';
import { everywhere } from '../workspace/layout.ts';
import { readHead } from '../workspace/read-block.ts';
import type { Entry } from './entries.ts';
import { entryOf, type OwnBlock, type OwnBullet } from './own-blocks.ts';
import { tokensAtMost } from './tokens-at-most.ts';

/** What a session's context has room for; both hold for the whole text, frame and rules included. */
export interface Budget {
  /** UTF-16 code units. */
  readonly characters: number;
  readonly tokens: number;
}

/** An entry with the two lines that it stands below: of its block or of the summary, and of its kind. */
export interface Placed {
  readonly entry: Entry;
  /** Of its block's heading in the handbook; 0 for the summary. */
  readonly blockLine: number;
  readonly heading: string;
  readonly label: string;
  /** It holds for every repository. */
  readonly isShared: boolean;
}

export function placeSummary(entry: Entry, lastLine: number): Placed {
  return {
    entry,
    blockLine: 0,
    heading: `## What holds for every repository (memory_summary.md:1-${lastLine})`,
    label: `${oneLine(entry.title.replace(/^#+/, ''), 80) || 'Notes'}:`,
    isShared: entry.scope === everywhere,
  };
}

/** Places bullets below their block’s heading. Each heading is made once, when it is first asked for. */
export function bulletPlacer(): (bullet: OwnBullet) => Placed {
  const headings = new Map<OwnBlock, string>();
  return (bullet) => {
    const { own } = bullet;
    const heading = headings.get(own) ?? headingOf(own);
    headings.set(own, heading);
    const entry = entryOf(bullet);
    return { entry, blockLine: own.line, heading, label: labels[entry.kind], isShared: own.scope === everywhere };
  };
}

/** What is left of a budget. An entry also takes the lines above it that are not there yet. */
export interface Room {
  /** Those of the entries that fit, each whole, in their order, until `share` of what there was at first is used. */
  take(entries: Iterable<Placed>, share: number): Placed[];
}

export function roomFor(budget: Budget, frame: string): Room {
  const free = { characters: budget.characters - frame.length, tokens: budget.tokens - tokensAtMost(frame) };
  const used = { characters: 0, tokens: 0 };
  const standing = new Set<string>();
  const fits = (placed: Placed, share: number): boolean => {
    const { lines, above } = linesOf(placed, standing);
    const characters = used.characters + lines.length;
    if (characters > free.characters * share) return false;
    const tokens = used.tokens + tokensAtMost(lines);
    if (tokens > free.tokens * share) return false;
    Object.assign(used, { characters, tokens });
    for (const line of above) standing.add(line);
    return true;
  };
  return {
    take: (entries, share) => {
      const taken: Placed[] = [];
      let misses = 0;
      for (const placed of entries) {
        if (misses === mostMisses) break;
        const isTaken = fits(placed, share);
        misses = isTaken ? 0 : misses + 1;
        if (isTaken) taken.push(placed);
      }
      return taken;
    },
  };
}

/** After so many in a row that do not fit, the page is full: to try thousands takes longer than a session should wait. */
const mostMisses = 20;

/** Entries below their headings; those of one heading, and of one label below it, stand together. */
export function layOut(entries: readonly Placed[]): string {
  const standing = new Set<string>();
  let text = '';
  for (const placed of entries) {
    const { lines, above } = linesOf(placed, standing);
    text += lines;
    for (const line of above) standing.add(line);
  }
  return text;
}

const labels: Readonly<Record<Entry['kind'], string>> = {
  summary: '',
  block: '',
  preference: 'Preferences:',
  failure: 'Failures:',
  knowledge: 'Knowledge:',
};

/** Where it stands, so that it can be cited and read in whole, and for what part of the work it is meant. */
function headingOf({ head, scope, line, lastLine }: OwnBlock): string {
  const {
    title,
    appliesTo: { cwd, reuseRule },
  } = readHead(head);
  const where = [
    ...(scope === everywhere ? ['every repository'] : []),
    ...(['', '.', everywhere].includes(cwd) ? [] : [`in ${cwd}`]),
    ...(reuseRule === '' ? [] : [reuseRule]),
  ];
  const meant = where.length === 0 ? '' : `; ${oneLine(where.join('; '), 240)}`;
  return `## ${oneLine(title, 120)} (MEMORY.md:${line}-${lastLine}${meant})`;
}

/** An entry with the lines above it that do not stand yet; `above` are keys of all that stand above it now. */
function linesOf(placed: Placed, standing: ReadonlySet<string>): { lines: string; above: readonly string[] } {
  const { heading } = placed;
  const label = `${heading}\n${placed.label}`;
  const above = standing.has(heading) ? '' : `\n${heading}\n`;
  const kind = standing.has(label) ? '' : `${placed.label}\n`;
  return { lines: `${above}${kind}${contextText(placed.entry.text)}\n`, above: [heading, label] };
}

function oneLine(text: string, characters: number): string {
  const line = contextText(text).replace(/\s+/g, ' ').trim();
  if (line.length <= characters) return line;
  const whole = [...line];
  return whole.length <= characters ? line : `${whole.slice(0, characters - 1).join('')}…`;
}
