import type { Files } from '../shared/files.ts';
import { sectionHeadings } from './block-lines.ts';
import { parseHandbook, scopeOf } from './handbook.ts';
import { everywhere, handbookPath } from './layout.ts';

/** The file of the scope `*`'s projection that holds the digest. It stands in no tree. */
export const digestPath = 'memories/digest.md';

/**
 * What consolidating `*` reads of the other scopes: each block's head and its preferences, in the handbook's order.
 * '' where no scope has a block.
 */
export function digestOfScopes(files: Files): string {
  return parseHandbook(files.get(handbookPath) ?? '')
    .blocks.filter((block) => scopeOf(block) !== null && scopeOf(block) !== everywhere)
    .map((block) => {
      const head = `# Task Group: ${block.title}\nscope: ${block.scopeLine}\napplies_to: repo=${block.appliesTo.repo}; cwd=${block.appliesTo.cwd}; reuse_rule=${block.appliesTo.reuseRule}\n`;
      const preferences = block.preferences.map(({ raw }) => raw).join('\n');
      return preferences === '' ? head : `${head}\n${sectionHeadings.preferences}\n${preferences}\n`;
    })
    .join('\n');
}
