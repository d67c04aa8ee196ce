import { withoutEvidence } from '../shared/evidence.ts';
import { followFences, sectionHeadings } from './block-lines.ts';
import type { Block } from './handbook.ts';
import { parseHandbook } from './handbook.ts';
import { type Unit, unitsOf } from './lines.ts';
import { itemsOf } from './shrink.ts';

/**
 * Puts back what a person wrote or pinned and a proposal lost. A line that stands elsewhere in the proposal has moved
 * and is left there, in the person's spelling and with at least their evidence; a block that is gone comes back as its
 * head and these lines alone.
 * @returns the blocks' sources and how many lines were put back.
 */
export function restorePersons(
  before: readonly Block[],
  after: readonly string[],
  isPersons: (unit: Unit) => boolean,
): { readonly raws: readonly string[]; readonly restored: number } {
  const raws = [...after];
  const blocks = after.map((raw) => parseHandbook(raw).blocks[0]);
  const standing = new Set(
    blocks.flatMap((block) => (block === undefined ? [] : unitsOf(block).map(({ hash }) => hash))),
  );
  let restored = respell(before, raws, isPersons);
  for (const block of before) {
    const lost = unitsOf(block).filter((unit) => isPersons(unit) && !standing.has(unit.hash));
    if (lost.length === 0) continue;
    restored += lost.length;
    const at = blocks.findIndex((candidate) => candidate?.title === block.title);
    if (at >= 0) raws[at] = insertUnits(raws[at] ?? '', lost);
    else raws.push(insertUnits(headOf(block), lost));
  }
  return { raws, restored };
}

/** A person's lines that stand in other letters, or with evidence taken off, as that person wrote them. */
function respell(before: readonly Block[], raws: string[], isPersons: (unit: Unit) => boolean): number {
  const theirs = new Map<string, Unit[]>();
  for (const unit of before.flatMap(unitsOf).filter(isPersons))
    theirs.set(unit.hash, [...(theirs.get(unit.hash) ?? []), unit]);
  if (theirs.size === 0) return 0;
  let restored = 0;
  for (const [index, raw] of raws.entries()) {
    const block = parseHandbook(raw).blocks[0];
    const lines = raw.split('\n');
    for (const unit of block === undefined ? [] : unitsOf(block).reverse()) {
      const originals = theirs.get(unit.hash) ?? [];
      const [original] = originals;
      if (original === undefined || originals.some((one) => keeps(unit, one))) continue;
      lines.splice(unit.line - 1, unit.raw.split('\n').length, ...original.raw.split('\n'));
      restored += 1;
    }
    raws[index] = lines.join('\n');
  }
  return restored;
}

function keeps(unit: Unit, original: Unit): boolean {
  const items = new Set(itemsOf(unit.evidence));
  return spelling(unit) === spelling(original) && itemsOf(original.evidence).every((item) => items.has(item));
}

function spelling({ raw }: Unit): string {
  return withoutEvidence(raw.replace(/^[-*+](?=[ \t])/, '-')).replace(/\s+$/gm, '');
}

/**
 * The text with each unit at the end of the section it stood in, which is made where it is missing. A code fence left
 * open is closed first, since it would cover them.
 */
export function insertUnits(text: string, units: readonly Unit[]): string {
  const lines = text.trimEnd().split('\n');
  const fences = followFences();
  for (const line of lines) fences.cover(line);
  const closing = fences.closing();
  if (closing !== null) lines.push(closing);
  for (const unit of units) insertUnit(lines, unit);
  return `${lines.join('\n')}\n${/\n\r?\n$/.test(text) ? '\n' : ''}`;
}

function insertUnit(lines: string[], unit: Unit): void {
  // A task may have another number or be gone; what stood in it is knowledge still.
  const heading = unit.heading.startsWith('## Task') ? sectionHeadings.knowledge : unit.heading;
  const headings = headingsIn(lines);
  let start = heading === '' ? 0 : headings.find((at) => sameHeading(lines[at], heading));
  if (start === undefined) {
    start = placeFor(lines, heading, headings);
    lines.splice(start, 0, '', heading);
    start += 1;
    if (start + 1 < lines.length) lines.splice(start + 1, 0, '');
  }
  if (unit.kind === 'heading' && sameHeading(unit.raw, heading)) return;
  const from = start;
  let end = headingsIn(lines).find((at) => at > from) ?? lines.length;
  while (end > from + 1 && (lines[end - 1] ?? '').trim() === '') end -= 1;
  const follows = /^(?:[-*+][ \t]|[ \t]+\S)/.test(lines[end - 1] ?? '');
  lines.splice(end, 0, ...(unit.kind === 'prose' && follows ? [''] : []), ...unit.raw.split('\n'));
}

/** Where a missing section belongs: before the first that the schema puts after it, else at the end. */
function placeFor(lines: readonly string[], heading: string, headings: readonly number[]): number {
  const order = Object.values(sectionHeadings);
  const rank = order.findIndex((known) => sameHeading(known, heading));
  if (rank < 0) return lines.length;
  const next = headings.find((at) => order.findIndex((known) => sameHeading(lines[at], known)) > rank);
  if (next === undefined) return lines.length;
  return (lines[next - 1] ?? '').trim() === '' ? next - 1 : next;
}

function headingsIn(lines: readonly string[]): number[] {
  const fences = followFences();
  return lines.flatMap((line, at) => (!fences.cover(line) && /^##[ \t]/.test(line) ? [at] : []));
}

function sameHeading(a: string | undefined, b: string): boolean {
  return a?.trim().toLowerCase() === b.trim().toLowerCase();
}

function headOf(block: Block): string {
  return `${block.lines
    .filter(({ kind }) => kind === 'title' || kind === 'scope' || kind === 'applies_to')
    .map(({ text }) => text)
    .join('\n')}\n`;
}
