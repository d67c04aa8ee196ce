import type { Bullet } from './bullets.ts';
import { utf8Bytes } from './text.ts';

export interface Section {
  readonly heading: string;
  readonly bullets: Bullet[];
}

export interface Block {
  readonly title: string;
  readonly head: readonly string[];
  readonly sections: readonly Section[];
}

/**
 * Head and blocks as Markdown of at most `maxBytes` as a JSON string: bullets of the lowest value are left out first,
 * then the last blocks; the head and the first block's own lines always stay.
 */
export function fit(head: string, blocks: readonly Block[], maxBytes: number): string {
  const kept = [...blocks];
  for (;;) {
    const text = render(head, kept);
    if (utf8Bytes(JSON.stringify(text)) <= maxBytes) return text;
    const section = cheapest(kept);
    if (section) section.bullets.splice(section.bullets.indexOf(least(section.bullets)), 1);
    else if (kept.length > 1) kept.pop();
    else return text;
  }
}

function render(head: string, blocks: readonly Block[]): string {
  const parts = blocks.map((block) => {
    const sections = block.sections.filter((section) => section.bullets.length > 0);
    const lists = sections.map(
      (section) => `\n${section.heading}\n${section.bullets.map((one) => one.text).join('\n')}\n`,
    );
    return `${block.title}\n\n${block.head.join('\n')}\n${lists.join('')}`;
  });
  return `${head}\n\n${parts.join('\n')}`;
}

function cheapest(blocks: readonly Block[]): Section | undefined {
  const full = blocks.flatMap((block) => block.sections).filter((section) => section.bullets.length > 0);
  return full.sort((a, b) => least(a.bullets).value - least(b.bullets).value)[0];
}

function least(bullets: readonly Bullet[]): Bullet {
  return bullets.reduce((low, one) => (one.value <= low.value ? one : low), bullets[0] ?? { text: '', value: 0 });
}
