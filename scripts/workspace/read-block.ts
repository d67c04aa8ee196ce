import { parseEvidence, parseSuperseded, withoutEvidence } from '../shared/evidence.ts';
import { type BlockLine, readBlockLines } from './block-lines.ts';
import type { AppliesTo, Block, Bullet, Task } from './handbook.ts';
import type { Scope } from './layout.ts';
import { parseReference } from './reference.ts';

/** What a block says of itself before its first section. */
export type BlockHead = Pick<Block, 'title' | 'isTaskGroup' | 'scopeLine' | 'appliesTo'>;

/** A block from its source; `line` is the number of its heading in the handbook. */
export function readBlock(raw: string, line: number): Block {
  const lines = readBlockLines(raw);
  return {
    ...readHead(lines),
    tasks: readTasks(lines, line),
    preferences: bulletsAt(lines, 'preferences', line),
    knowledge: bulletsAt(lines, 'knowledge', line),
    failures: bulletsAt(lines, 'failures', line),
    lines,
    raw,
    line,
  };
}

export function readHead(lines: readonly BlockLine[]): BlockHead {
  const heading = lines[0]?.text ?? '';
  const isTaskGroup = heading.startsWith('# Task Group:');
  const head = (kind: BlockLine['kind']) => lines.find((candidate) => candidate.kind === kind)?.text ?? '';
  return {
    title: heading.replace(isTaskGroup ? /^# Task Group:/ : /^#/, '').trim(),
    isTaskGroup,
    scopeLine: head('scope')
      .replace(/^scope:/, '')
      .trim(),
    appliesTo: readAppliesTo(head('applies_to')),
  };
}

/** Groups the lines at `place` into bullets, each with its continuation. `firstLine` is the number of `lines[0]`. */
export function bulletsAt(lines: readonly BlockLine[], place: BlockLine['place'], firstLine: number): Bullet[] {
  return bulletSpans(lines)
    .filter((span) => span.place === place)
    .map(({ start, end }) =>
      readBullet(
        lines.slice(start, end).map(({ text }) => text),
        firstLine + start,
      ),
    );
}

/** Which lines a bullet takes, its continuation with it: from `start` up to but not including `end`. */
export interface BulletSpan {
  readonly place: BlockLine['place'];
  readonly start: number;
  readonly end: number;
}

export function bulletSpans(lines: readonly BlockLine[]): BulletSpan[] {
  const spans: BulletSpan[] = [];
  for (let start = 0; start < lines.length; start += 1) {
    const line = lines[start];
    if (line?.kind !== 'bullet') continue;
    let end = start + 1;
    for (let next = start + 1; next < lines.length; next += 1) {
      const kind = lines[next]?.kind;
      if (kind === 'continuation') end = next + 1;
      else if (kind !== 'blank') break;
    }
    spans.push({ place: line.place, start, end });
    start = end - 1;
  }
  return spans;
}

/** `scopeOf` of a block's lines, without reading the rest of its head. */
export function readScope(lines: readonly BlockLine[]): Scope | null {
  const repo = part(lines.find(({ kind }) => kind === 'applies_to')?.text ?? '', appliesTo.repo);
  return lines[0]?.text.startsWith('# Task Group:') === true && repo !== '' ? repo : null;
}

function readAppliesTo(line: string): AppliesTo {
  return {
    repo: part(line, appliesTo.repo),
    cwd: part(line, appliesTo.cwd),
    reuseRule: part(line, appliesTo.reuseRule),
  };
}

const appliesTo = {
  repo: /^applies_to:[ \t]*repo=([^;]*)/,
  cwd: /;[ \t]*cwd=([^;]*)/,
  reuseRule: /;[ \t]*reuse_rule=(.*)$/,
} as const;

function part(line: string, pattern: RegExp): string {
  return pattern.exec(line)?.[1]?.trim() ?? '';
}

function readTasks(lines: readonly BlockLine[], firstLine: number): Task[] {
  const starts = lines.flatMap(({ kind }, index) => (kind === 'task' ? [index] : []));
  return starts.map((start, index) => {
    const own = lines.slice(start + 1, starts[index + 1] ?? lines.length);
    const heading = /^## Task\b[ \t]*(\d{1,6})?[ \t]*:?[ \t]*(.*)$/.exec(lines[start]?.text ?? '');
    const title = heading?.[2]?.trim() ?? '';
    return {
      number: heading?.[1] === undefined ? null : Number(heading[1]),
      title,
      outcome: /(?:^|[\s,(])(success|partial|uncertain|fail)\)?$/.exec(title)?.[1] ?? null,
      summaryFiles: own.flatMap(({ kind, text }) => (kind === 'reference' ? (parseReference(text)?.file ?? []) : [])),
      keywords: own.flatMap(({ kind, text }) => (kind === 'keywords' ? keywordsOf(text) : [])),
      line: firstLine + start,
    };
  });
}

function keywordsOf(line: string): string[] {
  return line
    .replace(/^[-*+][ \t]+/, '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

function readBullet(lines: readonly string[], line: number): Bullet {
  const joined = lines.map((text) => text.trim()).join(' ');
  return {
    text: withoutEvidence(joined.replace(/^[-*+][ \t]+/, '')).trim(),
    raw: lines.join('\n'),
    evidence: parseEvidence(joined),
    supersedes: parseSuperseded(joined),
    line,
  };
}
