import { byBinary, type Files } from '../shared/files.ts';
import { blockViolations, summariesIn } from './block-rules.ts';
import { type Block, bulletsOf, parseHandbook, scopeOf } from './handbook.ts';
import {
  handbookPath,
  isGenerated,
  isKnownPath,
  memorySummaryPath,
  type Scope,
  sizeLimits,
  skillOf,
} from './layout.ts';
import { normaliseLine } from './lines.ts';
import { skillViolations } from './skill-rules.ts';
import { summaryViolations } from './summary-rules.ts';
import { correctedBullets } from './superseded.ts';
import { textViolations } from './text-rules.ts';
import { error, type RuleContext, type Violation, warning } from './violation.ts';

/** Every artifact rule that the files break, by path and line. The files are a scope's projection or the whole tree. */
export function violations(files: Files, context: RuleContext): Violation[] {
  return [...files]
    .flatMap(([path, text]) => fileViolations(path, text, files, context))
    .sort((a, b) => byBinary(a.path, b.path) || a.line - b.line || byBinary(a.rule, b.rule));
}

function fileViolations(path: string, text: string, files: Files, context: RuleContext): Violation[] {
  const spot = { path, block: null };
  if (!isKnownPath(path)) return [error(spot, 1, 'path.unknown', 'No such file has a place below memories/.')];
  if (isGenerated(path)) return [];
  if (path === handbookPath) return handbookViolations(text, files, context);
  const size = Buffer.byteLength(text);
  if (size > sizeLimits.fileBytes)
    return [error(spot, 1, 'file.size', `${size} bytes; at most ${sizeLimits.fileBytes} are allowed.`)];
  if (path === memorySummaryPath) return summaryViolations(text, files, context);
  if (skillOf(path) !== null) return skillViolations(path, text, context.scope);
  return textViolations(spot, text);
}

function handbookViolations(text: string, files: Files, context: RuleContext): Violation[] {
  const { preamble, blocks } = parseHandbook(text);
  const spot = { path: handbookPath, block: null };
  const found = textViolations(spot, preamble);
  if (context.scope !== null && preamble.trim() !== '')
    found.push(error(spot, 1, 'block.prose', 'Nothing may stand above the first block.'));
  const summaries = summariesIn(files);
  for (const block of blocks) {
    // In the whole tree a section without `# Task Group:` is a person's own.
    if (block.isTaskGroup || context.scope !== null) found.push(...blockViolations(block, context, summaries));
    else found.push(...textViolations({ path: handbookPath, block: block.title }, block.raw, block.line));
  }
  return [...found, ...[...byScope(blocks)].flatMap(([scope, own]) => scopeViolations(scope, own, context))];
}

function byScope(blocks: readonly Block[]): Map<Scope, Block[]> {
  const scopes = new Map<Scope, Block[]>();
  for (const block of blocks) {
    const scope = scopeOf(block);
    if (scope === null) continue;
    const own = scopes.get(scope);
    if (own === undefined) scopes.set(scope, [block]);
    else own.push(block);
  }
  return scopes;
}

/** What no block breaks alone: the scope's budget, a title or a bullet that stands twice, a line beside its correction. */
function scopeViolations(scope: Scope, blocks: readonly Block[], context: RuleContext): Violation[] {
  const found: Violation[] = [];
  const size = blocks.reduce((sum, { raw }) => sum + Buffer.byteLength(raw), 0);
  const first = blocks[0];
  if (size > sizeLimits.scopeBytes && first !== undefined) {
    const message = `The blocks of ${scope} have ${size} bytes; at most ${sizeLimits.scopeBytes} are allowed.`;
    found.push(error({ path: handbookPath, block: null }, first.line, 'handbook.budget', message));
  }
  for (const { bullet, block, by } of correctedBullets(blocks, context)) {
    const message = `Line ${by.line} says that it supersedes this one, so one of them goes.`;
    found.push(error({ path: handbookPath, block: block.title }, bullet.line, 'evidence.superseded', message));
  }
  const titles = new Set<string>();
  const bullets = new Set<string>();
  for (const block of blocks) {
    const spot = { path: handbookPath, block: block.title };
    if (titles.has(block.title))
      found.push(error(spot, block.line, 'block.twice', 'Another block of this scope has the same title.'));
    titles.add(block.title);
    for (const bullet of bulletsOf(block)) {
      // What holds in two working folders has to stand in the block of each.
      const words = `${block.appliesTo.cwd}\n${normaliseLine(bullet.raw)}`;
      if (bullets.has(words)) found.push(warning(spot, bullet.line, 'bullet.twice', 'The same bullet stands above.'));
      bullets.add(words);
    }
  }
  return found;
}
