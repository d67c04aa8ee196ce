import { join } from 'node:path';
import type { Edit } from './edit.ts';
import { shownAs } from './hooks.ts';
import { ownFile } from './own-file.ts';
import type { Programs } from './pinned.ts';
import { handlersFor, type Wanted } from './targets.ts';

/**
 * A plugin of Claude Code that stands alone: hooks and the programs that they run. A team hands it out by a marketplace;
 * one person tries it with `claude --plugin-dir <folder>`.
 */
export function pluginEdits(
  folder: string,
  version: string,
  wanted: Omit<Wanted, 'folder'>,
  programs: Programs,
): readonly Edit[] {
  const manifest = {
    name: 'commit-to-memory',
    version,
    description: 'Gives new sessions what the team’s earlier sessions taught, from its memory in Git.',
    author: { name: 'commit-to-memory' },
  };
  const handlers = handlersFor('claude-code', wanted, (name) => `"\${CLAUDE_PLUGIN_ROOT}"/${name}`);
  const files = new Map([
    ['.claude-plugin/plugin.json', `${JSON.stringify(manifest, null, 2)}\n`],
    ['hooks/hooks.json', shownAs('grouped', handlers)],
    ...programs,
  ]);
  return [...files].map(([path, text]) => ownFile(join(folder, path), text, '', () => false));
}
