import { followFences } from './block-lines.ts';
import type { Document, Leaf, Outline } from './merge-outline.ts';

/** The text again: of an unchanged document the same bytes. Pieces that meet anew stay what they are. */
export function renderDocument({ root, tail }: Document): string {
  const lines: string[] = [];
  let fences = followFences();
  let item: 'bullet' | 'afterBlank' | null = null;
  const put = (leaf: Leaf) => {
    const lead = [...leadAt(leaf, lines.length === 0)];
    const startsBlock = leaf.kind === 'title' && leaf.raw.startsWith('# Task Group:');
    const closing = startsBlock ? null : fences.closing();
    if (startsBlock) fences = followFences();
    if (closing !== null) {
      lines.push(closing);
      fences.cover(closing);
    }
    const [first = '', ...rest] = leaf.lines;
    const isProse = leaf.kind === 'prose';
    if (isProse && item === 'bullet' && lead.length === 0) lead.push('');
    lines.push(...lead, isProse && item !== null ? first.trimStart() : first, ...rest);
    for (const line of leaf.lines) fences.cover(line.replace(/\r$/, ''));
    if (leaf.kind === 'bullet' || leaf.kind === 'reference' || leaf.kind === 'keywords') item = 'bullet';
    else item = null;
  };
  const walk = (node: Outline) => {
    if (node.heading !== null) put(node.heading);
    for (const leaf of node.leaves) put(leaf);
    for (const part of node.parts) walk(part);
  };
  walk(root);
  return lines.length === 0 ? '' : `${lines.join('\n')}${tail}`;
}

function leadAt(leaf: Leaf, isFirst: boolean): readonly string[] {
  if (isFirst === leaf.isTop) return leaf.lead;
  return isFirst || (leaf.kind !== 'title' && leaf.kind !== 'heading') ? [] : [''];
}
