import { truncateMiddle } from '../shared/tokens.ts';
import { joinBlocks, parseHandbook, scopeOf } from '../workspace/handbook.ts';
import { everywhere, type Scope } from '../workspace/layout.ts';
import { isVisible, ownerAt, ownersOf } from './search/owners.ts';
import { limits } from './tools/limits.ts';
import type { MemoryFolder } from './tools/memory-folder.ts';
import { ToolError } from './tools/tool-error.ts';

/** A text that a client may put into a session as a whole. */
export interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly text: string;
}

/** The summary, the blocks of the session's repositories, then those that hold everywhere. */
export async function resourcesOf(folder: MemoryFolder, repositories: readonly Scope[]): Promise<Resource[]> {
  const summary = await textAt(folder, 'memory_summary.md');
  const handbook = await textAt(folder, 'MEMORY.md');
  const own = [...repositories, everywhere].flatMap((scope) => blocksOf(handbook ?? '', scope));
  if (summary === null) return own;
  const description = 'What the team’s memory holds, in brief';
  return [{ uri: 'memory://summary', name: 'summary', description, text: ownLines(summary, repositories) }, ...own];
}

function blocksOf(handbook: string, scope: Scope): Resource[] {
  const blocks = parseHandbook(handbook).blocks.filter((block) => scopeOf(block) === scope);
  if (blocks.length === 0) return [];
  const whole = joinBlocks(
    '',
    blocks.map(({ raw }) => raw),
  );
  return [
    {
      uri: `memory://blocks/${scope.split('/').map(encodeURIComponent).join('/')}`,
      name: scope === everywhere ? 'everywhere' : scope,
      description: scope === everywhere ? 'What holds in every repository' : `What the memory holds of ${scope}`,
      text: truncateMiddle(whole, { tokens: limits.readTokens }),
    },
  ];
}

/** The summary without the lines of other repositories. */
function ownLines(summary: string, repositories: readonly Scope[]): string {
  const owner = ownerAt(ownersOf('memory_summary.md', summary));
  const lines = summary.split('\n').filter((_, line) => isVisible(owner(line), repositories));
  return truncateMiddle(lines.join('\n'), { tokens: limits.readTokens });
}

async function textAt(folder: MemoryFolder, path: string): Promise<string | null> {
  try {
    const file = folder.find(path);
    return file.kind === 'file' ? await folder.textOf(file) : null;
  } catch (error) {
    if (error instanceof ToolError) return null;
    throw error;
  }
}
