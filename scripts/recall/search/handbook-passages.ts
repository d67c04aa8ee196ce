import { type BlockLine, sectionHeadings } from '../../workspace/block-lines.ts';
import { type Block, parseHandbook, scopeOf } from '../../workspace/handbook.ts';
import { unitsOf } from '../../workspace/lines.ts';
import { type Passage, placeOf, plain, worth } from './passage.ts';

/** The handbook's tasks and bullets, and whatever else people wrote there. */
export function handbookPassages(text: string): Passage[] {
  return parseHandbook(text).blocks.flatMap((block) => [...tasksOf(block), ...linesOf(block)]);
}

function tasksOf(block: Block): Passage[] {
  return block.tasks.map((task) => {
    const start = task.line - block.line;
    let end = start + 1;
    while (end < block.lines.length && !endsTask(block.lines[end]?.kind)) end += 1;
    const own = block.lines.slice(start, end);
    const last = own.findLastIndex(({ kind }) => kind !== 'blank');
    return {
      ...commonOf(block),
      from: task.line - 1,
      to: task.line - 1 + Math.max(0, last),
      body: task.title,
      keywords: task.keywords.join(', '),
      worth: worth.pointer,
    };
  });
}

function linesOf(block: Block): Passage[] {
  const keywords = joined(
    block.tasks.flatMap((task) => task.keywords),
    ', ',
  );
  const tasks = joined(
    block.tasks.map(({ title }) => title),
    ' ',
  );
  return unitsOf(block)
    .filter(({ kind }) => kind !== 'heading')
    .map(({ raw, line, heading }) => ({
      ...commonOf(block),
      from: line - 1,
      to: line - 1 + raw.split('\n').length - 1,
      body: plain(raw),
      title: `${block.title === block.appliesTo.repo ? '' : block.title} ${tasks}`,
      keywords,
      worth: worthOf(heading, raw),
    }));
}

function endsTask(kind: BlockLine['kind'] | undefined): boolean {
  return kind === 'task' || kind === 'section';
}

/** What every bullet of a block is found by, too: bounded, since each carries it. */
function joined(texts: readonly string[], separator: string): string {
  return [...new Set(texts)].join(separator).slice(0, 4_000);
}

function worthOf(heading: string, raw: string): number {
  if (heading === sectionHeadings.preferences) return worth.preference;
  if (heading === sectionHeadings.failures) return worth.failure;
  return /^- (?:changed here|verified with)\b/.test(raw) ? worth.record : worth.usual;
}

function commonOf(block: Block): Pick<Passage, 'path' | 'scope' | 'title' | 'appliesTo'> {
  const { repo, cwd } = block.appliesTo;
  return { path: 'MEMORY.md', scope: scopeOf(block), title: block.title, appliesTo: placeOf(repo, cwd) };
}
