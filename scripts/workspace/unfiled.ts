import { byBinary, type Files } from '../shared/files.ts';
import { withoutHidden } from '../shared/sanitize.ts';
import { type Block, joinBlocks, parseHandbook, renderBlock, scopeOf, type TaskDraft } from './handbook.ts';
import { rawSections, splitHeader } from './inputs.ts';
import { rawMemoriesPath, type Scope, stemOf } from './layout.ts';
import { formatReference } from './reference.ts';

/** Title of the block that code makes for sessions that no other block of their scope names. */
export const unfiledTitle = 'Unfiled';

/**
 * The handbook with each scope's *Unfiled* block made anew: one task a summary that nothing else names, in the order of
 * file names. It disappears when nothing is unfiled; bullets that somebody put there stay.
 */
export function withUnfiled(handbook: string, files: Files): string {
  const { preamble, blocks } = parseHandbook(handbook);
  const wanted = unfiledSummaries(blocks, files);
  const keywords = keywordsByThread(files.get(rawMemoriesPath) ?? '');
  const raws: string[] = [];
  for (const block of blocks) {
    const scope = scopeOf(block);
    if (block.title !== unfiledTitle || scope === null) {
      raws.push(block.raw);
      continue;
    }
    const own = wanted.get(scope) ?? [];
    wanted.delete(scope);
    const rest = sectionsOf(block);
    if (own.length > 0 || rest !== '') raws.push(withSpacing(unfiledBlock(scope, own, keywords, rest), block.raw));
  }
  for (const [scope, own] of wanted) raws.push(unfiledBlock(scope, own, keywords, ''));
  return raws.length === 0 && preamble.trim() === '' ? '' : joinBlocks(preamble, raws);
}

export interface Summary {
  /** `rollout_summaries/<stem>.md` */
  readonly file: string;
  readonly text: string;
}

/** A task for one session, made from its summary. @param keywords by thread id, where raw memories give some. */
export function taskOf({ file, text }: Summary, keywords: ReadonlyMap<string, string>): TaskDraft {
  const { header, body } = splitHeader(text);
  return {
    title: titleOf(body),
    references: [formatReference(file, header)],
    keywords: [keywords.get(header.thread_id ?? '') ?? wordsOfStem(file)],
  };
}

/** Thread id → its keywords as one text. */
export function keywordsByThread(rawMemories: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const { threadId, body } of rawSections(rawMemories)) {
    const words = withoutHidden(/^keywords:[ \t]*(.{1,400})/m.exec(body)?.[1] ?? '')
      .replace(/[<>*]/g, '')
      .trim();
    if (words !== '') found.set(threadId, words);
  }
  return found;
}

function unfiledSummaries(blocks: readonly Block[], files: Files): Map<Scope, Summary[]> {
  const named = new Set(
    blocks
      .filter((block) => block.title !== unfiledTitle)
      .flatMap((block) =>
        block.tasks.flatMap(({ summaryFiles }) => summaryFiles.map((file) => `${scopeOf(block)} ${file}`)),
      ),
  );
  const unfiled = new Map<Scope, Summary[]>();
  for (const [path, text] of [...files].sort(([a], [b]) => byBinary(a, b))) {
    const stem = stemOf(path);
    const scope = stem === null ? undefined : splitHeader(text).header.repo;
    if (stem === null || scope === undefined) continue;
    const file = `rollout_summaries/${stem}.md`;
    if (named.has(`${scope} ${file}`)) continue;
    const own = unfiled.get(scope);
    if (own === undefined) unfiled.set(scope, [{ file, text }]);
    else own.push({ file, text });
  }
  return new Map([...unfiled].sort(([a], [b]) => byBinary(a, b)));
}

function unfiledBlock(
  scope: Scope,
  summaries: readonly Summary[],
  keywords: ReadonlyMap<string, string>,
  rest: string,
): string {
  const block = renderBlock({
    title: unfiledTitle,
    scopeLine: 'sessions that no other block names yet',
    appliesTo: { repo: scope, cwd: '.', reuseRule: 'look here when no other block fits' },
    tasks: summaries.map((summary) => taskOf(summary, keywords)),
    bullets: { preferences: [], knowledge: [], failures: [] },
  });
  return rest === '' ? block : `${block}\n${rest}\n`;
}

function titleOf(body: string): string {
  const title = withoutHidden(/^#{1,3}[ \t]+(.{1,400})/m.exec(body)?.[1] ?? body.split('\n')[0] ?? '');
  const outcome = /^Outcome:[ \t]*(success|partial|uncertain|fail)\b/m.exec(body)?.[1] ?? 'uncertain';
  return `${cutWords(title.replace(/[<>*`]/g, '').replace(/[.,;:\s]+$/, ''), 120) || 'session'}, ${outcome}`;
}

function wordsOfStem(file: string): string {
  const slug = /\d{2}-\d{2}-\d{2}-[0-9A-Za-z]{4}-(.*)\.md$/.exec(file)?.[1] ?? '';
  return (
    slug
      .split(/[_-]+/)
      .filter((word) => word !== '')
      .join(', ') || 'session'
  );
}

function cutWords(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(0, length).replace(/[\ud800-\udbff]$/, '');
  const space = cut.lastIndexOf(' ');
  return space > length / 2 ? cut.slice(0, space) : cut;
}

/** What somebody wrote below the tasks. */
function sectionsOf(block: Block): string {
  const first = block.lines.findIndex(({ kind }) => kind === 'section');
  const lines = first < 0 ? [] : block.lines.slice(first);
  return lines.some(({ kind }) => kind !== 'section' && kind !== 'blank')
    ? lines
        .map(({ text }) => text)
        .join('\n')
        .trimEnd()
    : '';
}

function withSpacing(raw: string, before: string): string {
  return /\n\r?\n$/.test(before) ? `${raw.trimEnd()}\n\n` : raw;
}
