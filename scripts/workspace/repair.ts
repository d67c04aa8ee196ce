import { byBinary, type Files } from '../shared/files.ts';
import { withoutHidden } from '../shared/sanitize.ts';
import { type BlockLine, followFences, readBlockLines } from './block-lines.ts';
import { isHumanStated, isNoted, type Summaries, standsWithoutTask, summariesIn } from './block-rules.ts';
import {
  type Block,
  type Bullet,
  bulletsOf,
  joinBlocks,
  parseHandbook,
  renderTask,
  scopeOf,
  type TaskDraft,
} from './handbook.ts';
import { splitHeader } from './inputs.ts';
import { everywhere, handbookPath, isGenerated, rawMemoriesPath, stemOf } from './layout.ts';
import { lineHash, unitsOf } from './lines.ts';
import { formatReference, parseReference } from './reference.ts';
import { correctedBullets } from './superseded.ts';
import { keywordsByThread, taskOf, withUnfiled } from './unfiled.ts';
import type { RuleContext } from './violation.ts';

/**
 * Mends what code can mend: lines that another supersedes, references to summaries that are gone, incomplete ones, summaries that no block names,
 * numbers of tasks, markers of bullets, white space, invisible characters. The files are a scope's projection or the
 * whole tree; of `*`, references are looked at only where the summaries are given beside it. Generated files stay as
 * they are. Mending twice changes nothing more.
 */
export function repair(files: Files, context: RuleContext): Files {
  const mended = new Map<string, string>();
  for (const [path, text] of files)
    mended.set(path, isGenerated(path) || path === handbookPath ? text : tidy(text.replace(/\r\n/g, '\n')));
  const handbook = repairHandbook(files.get(handbookPath) ?? '', files, context);
  if (handbook === '') mended.delete(handbookPath);
  else mended.set(handbookPath, handbook);
  return new Map([...mended].sort(([a], [b]) => byBinary(a, b)));
}

function repairHandbook(text: string, files: Files, context: RuleContext): string {
  const { preamble, blocks } = parseHandbook(text);
  const summaries = summariesIn(files);
  const tasks = taskMaker(files);
  const current = withoutCorrected(blocks, context);
  const raws = current.flatMap((block) => {
    if (!block.isTaskGroup) return [block.raw];
    const raw = repairBlock(block, summaries, tasks, context);
    return raw === null ? [] : [raw];
  });
  const joined = raws.length === 0 && preamble.trim() === '' ? '' : joinBlocks(preamble, raws);
  return context.scope === everywhere ? joined : withUnfiled(joined, files);
}

/** @returns null for a block that has nothing left to say. */
function repairBlock(block: Block, summaries: Summaries, tasks: TaskMaker, context: RuleContext): string | null {
  const tidied = readBlockLines(tidy(block.lines.map(({ text }) => text).join('\n')));
  const isUnknown = context.scope === everywhere && summaries.size === 0;
  const referenced = isUnknown ? tidied : tidied.flatMap((line) => repairReference(line, summaries));
  const withTasks = withoutEmptyTasks(tidied, referenced);
  const lines = renumbered(withTasks).map(({ text, fenced }) => (fenced ? text : withDash(text)));
  const raw = `${lines.join('\n').trimEnd()}\n${trailingBlank(block.raw)}`;
  const after = parseHandbook(raw).blocks[0];
  if (after === undefined || after.tasks.length > 0) return raw;
  const left = block.tasks.length === 0 ? raw : withoutUnsupported(after, summaries, context);
  return left === null || context.scope === everywhere ? left : withLivingTasks(left, tasks, context);
}

function repairReference(line: BlockLine, summaries: Summaries): BlockLine[] {
  if (line.kind !== 'reference') return [line];
  const reference = parseReference(line.text);
  if (reference === null) return [line];
  const header = summaries.get(reference.file);
  return header === undefined ? [] : [{ ...line, text: formatReference(reference.file, header, reference.note) }];
}

/** Leaves out a task that lost its last reference, unless somebody wrote words of their own into it. */
function withoutEmptyTasks(before: readonly BlockLine[], after: readonly BlockLine[]): BlockLine[] {
  const had = taskParts(before).map((part) => part.some(({ kind }) => kind === 'reference'));
  return taskParts(after)
    .filter((part, index) => {
      const isEmpty = part[0]?.kind === 'task' && !part.some(({ kind }) => kind === 'reference');
      const hasWords = part.some(({ kind }) => kind === 'prose' || kind === 'heading' || kind === 'bullet');
      return !(isEmpty && had[index] === true) || hasWords;
    })
    .flat();
}

/** The lines before the first task, then those of each task; what follows the tasks is a part of its own. */
function taskParts(lines: readonly BlockLine[]): BlockLine[][] {
  const parts: BlockLine[][] = [[]];
  for (const line of lines) {
    if (line.kind === 'task' || (line.kind === 'section' && parts.at(-1)?.[0]?.kind === 'task')) parts.push([]);
    parts.at(-1)?.push(line);
  }
  return parts;
}

/** Tasks are counted from one. */
export function renumbered(lines: readonly BlockLine[]): BlockLine[] {
  let number = 0;
  return lines.map((line) => {
    if (line.kind !== 'task') return line;
    number += 1;
    const title = line.text.replace(/^## Task\b[ \t]*(?:\d{1,6})?[ \t]*:?[ \t]*/, '');
    return { ...line, text: `## Task ${number}: ${title}`.trimEnd() };
  });
}

/** A block whose sessions are all gone keeps what persons wrote or said; the rest rested on those sessions alone. */
function withoutUnsupported(block: Block, summaries: Summaries, context: RuleContext): string | null {
  const scope = scopeOf(block) ?? '';
  const living = new Set([...summaries.values()].map(({ thread }) => thread));
  const stays = (bullet: Bullet) =>
    context.isPersonLine(scope, lineHash(bullet.raw)) ||
    isHumanStated(bullet, context) ||
    isNoted(bullet, context) ||
    bullet.evidence.some(({ thread }) => living.has(thread));
  const left = withoutBullets(block, new Set(bulletsOf(block).filter((bullet) => !stays(bullet))));
  return left === undefined || unitsOf(left).length === 0 ? null : left.raw;
}

/** The blocks without the lines that others of their scope say they supersede. */
function withoutCorrected(blocks: readonly Block[], context: RuleContext): Block[] {
  const gone = new Set(
    [...new Set(blocks.map(scopeOf))]
      .flatMap((scope) =>
        scope === null
          ? []
          : correctedBullets(
              blocks.filter((block) => scopeOf(block) === scope),
              context,
            ),
      )
      .map(({ bullet }) => bullet),
  );
  return blocks.flatMap((block) =>
    bulletsOf(block).some((bullet) => gone.has(bullet)) ? (withoutBullets(block, gone) ?? []) : [block],
  );
}

function withoutEmptySections(lines: readonly BlockLine[]): BlockLine[] {
  return lines.filter((line, index) => {
    if (line.kind !== 'section') return true;
    const next = lines.slice(index + 1).find(({ kind }) => kind !== 'blank');
    return next !== undefined && next.kind !== 'section';
  });
}

function withoutBullets(block: Block, gone: ReadonlySet<Bullet>): Block | undefined {
  const lines = new Set<number>();
  for (const bullet of bulletsOf(block)) {
    if (!gone.has(bullet)) continue;
    const count = bullet.raw.split('\n').length;
    for (let line = 0; line < count; line += 1) lines.add(bullet.line - block.line + line);
  }
  const kept = withoutEmptySections(block.lines.filter((_, index) => !lines.has(index))).map(({ text }) => text);
  return parseHandbook(`${kept.join('\n').trimEnd()}\n${trailingBlank(block.raw)}`).blocks[0];
}

/** Makes the tasks of sessions by their short ids; null for one without a summary. */
type TaskMaker = (thread: string) => TaskDraft | null;

function taskMaker(files: Files): TaskMaker {
  const keywords = keywordsByThread(files.get(rawMemoriesPath) ?? '');
  const summaries = new Map(
    [...files]
      .filter(([path]) => stemOf(path) !== null)
      .map(([path, text]) => [splitHeader(text).header.thread, { file: path.slice('memories/'.length), text }]),
  );
  return (thread) => {
    const summary = summaries.get(thread);
    return summary === undefined ? null : taskOf(summary, keywords);
  };
}

/** A block that names no session, but whose bullets cite some that are there, is given their tasks. */
function withLivingTasks(raw: string, tasks: TaskMaker, context: RuleContext): string {
  const block = parseHandbook(raw).blocks[0];
  if (block === undefined || standsWithoutTask(block, context)) return raw;
  const threads = new Set(bulletsOf(block).flatMap(({ evidence }) => evidence.map(({ thread }) => thread)));
  const living = [...threads].flatMap((thread) => tasks(thread) ?? []);
  if (living.length === 0) return raw;
  const lines = raw.split('\n');
  const head = block.lines.findLastIndex(({ kind }) => kind === 'title' || kind === 'scope' || kind === 'applies_to');
  lines.splice(head + 1, 0, ...living.flatMap((task, index) => ['', renderTask(task, index + 1)]));
  return lines.join('\n');
}

function withDash(line: string): string {
  return line.replace(/^[*+](?=[ \t])/, '-');
}

function trailingBlank(raw: string): string {
  return /\n\r?\n$/.test(raw) ? '\n' : '';
}

/** Without invisible characters, spaces at the ends of lines and a code fence left open; one line end at the end. */
function tidy(text: string): string {
  const fences = followFences();
  const lines = withoutHidden(text)
    .split('\n')
    .map((line) => (fences.cover(line) ? line : line.trimEnd()));
  const closing = fences.closing();
  return `${lines.join('\n').trimEnd()}\n${closing === null ? '' : `${closing}\n`}`;
}
