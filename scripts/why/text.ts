import type { CommitInfo } from '../git/types.ts';
import { isoTime } from '../shared/clock.ts';
import type { Oid } from '../shared/files.ts';
import { type Brush, brushOf } from './brush.ts';
import { commitLines } from './commit-text.ts';
import type { MemoryLine } from './lines.ts';
import { listedLines } from './question.ts';
import type { Answer, KnownWording } from './run.ts';
import { sessionText } from './session-text.ts';

/** An answer for a person at a terminal. What others wrote is escaped, coloured or not. */
export function answerText(answer: Answer, at: Oid | null, isColoured: boolean): string {
  const brush = brushOf(isColoured);
  const [newest, ...earlier] = answer.wordings;
  if (newest === undefined) return '';
  return [
    ...headText(answer, at, brush),
    '',
    ...originText(newest, answer, brush),
    ...laterText(answer, brush),
    ...backText(newest, earlier, answer, brush),
    ...answer.sessions.flatMap((session) => ['', ...sessionText(session, answer.line.raw, brush)]),
    ...sourceText(newest, answer, brush),
  ].join('\n');
}

/** All that the handbook said at a commit. */
export function beliefsText(at: CommitInfo, lines: readonly MemoryLine[]): string {
  const brush = brushOf(false);
  return [
    `The handbook at ${at.oid.slice(0, 12)}, ${isoTime(at.at)}: ${lines.length} ${lines.length === 1 ? 'line' : 'lines'}`,
    ...lines.map((line) => listed(line, brush)),
  ].join('\n');
}

/** Several lines say it: which they are, and how to name one. */
export function severalText(lines: readonly MemoryLine[]): string {
  const [first] = lines;
  const more = lines.length - listedLines;
  return [
    `${lines.length} lines say this. Name one by its place: npm run why -- ${first?.path}:${first?.line}`,
    ...lines.slice(0, listedLines).map((line) => listed(line, brushOf(false))),
    ...(more > 0 ? [`  … and ${more} more: give more words of it`] : []),
  ].join('\n');
}

/** No line says it: those that nearly do. */
export function missText(near: readonly MemoryLine[], sought: boolean): string {
  return [
    `No line of the memory says this${sought ? ', and none of an earlier handbook that is here did' : ''}.`,
    ...(near.length === 0 ? [] : ['Nearest:', ...near.map((line) => listed(line, brushOf(false)))]),
    ...(sought ? [] : ['If it stood there once: npm run why -- --history "<its words>"']),
  ].join('\n');
}

function listed({ path, line, raw }: MemoryLine, brush: Brush): string {
  return `  ${brush.plain(`${path}:${line}`)}  ${brush.cut(raw, 120)}`;
}

function headText({ line }: Answer, at: Oid | null, brush: Brush): string[] {
  const when = at === null ? '' : ` at ${at.slice(0, 12)}`;
  const scope = line.scope === '' ? '' : ` · ${line.scope === '*' ? 'every repository' : line.scope}`;
  return [
    `${brush.strong(`${line.path}:${line.line}${when}`)}${brush.quiet(scope)}`,
    ...line.raw.split('\n').map((row) => `  ${brush.plain(row)}`),
  ];
}

function originText(wording: KnownWording, answer: Answer, brush: Brush): string[] {
  const verbs = {
    added: 'added',
    reworded: 'reworded so',
    corrected: 'corrected so',
    restored: 'brought back',
    unknown: 'there since or before',
  };
  return [
    ...commitLines(verbs[wording.how], wording.origin, answer.closed, brush),
    ...(answer.isCut && wording.how === 'unknown'
      ? [brush.warn('  This clone is shallow, so its author is not known. Fetch the rest: git fetch --unshallow')]
      : []),
    ...wording.supersedes.map((old) => `  ${brush.quiet('instead of')}  ${brush.cut(old.raw, 160)}`),
    ...(answer.persons === null
      ? []
      : [
          `  ${brush.quiet('kept as')}  a person's line (${brush.plain(answer.persons.who)}) since ${isoTime(answer.persons.since)}`,
        ]),
  ];
}

function laterText({ later, closed }: Answer, brush: Brush): string[] {
  if (later === null) return [];
  if (later.kind === 'stands') {
    if (!later.reworded) return ['', brush.good('It still stands today.')];
    return ['', brush.warn('Today it says:'), `  ${brush.plain(later.line.raw)}`];
  }
  const { by, facts } = later.removal;
  const links = { reworded: 'reworded to', evidence: 'superseded by', words: 'probably superseded by' };
  return [
    '',
    brush.warn('It stands no longer.'),
    ...commitLines('gone', facts, closed, brush),
    ...(by === null ? ['  nothing took its place'] : [`  ${brush.quiet(links[by.link])}  ${brush.plain(by.by.raw)}`]),
  ];
}

function backText(newest: KnownWording, earlier: readonly KnownWording[], answer: Answer, brush: Brush): string[] {
  if (earlier.length === 0) return [];
  let newer: KnownWording = newest;
  const rows = ['', brush.strong('Before')];
  for (const wording of earlier) {
    const { line, end, until, how, origin } = wording;
    rows.push(
      `  ${brush.plain(line.raw)}`,
      ...commitLines(
        how === 'reworded' || how === 'corrected' ? `${how} so` : 'since',
        origin,
        answer.closed,
        brush,
      ).map((row) => `  ${row}`),
    );
    if (end !== null && until !== null)
      rows.push(...commitLines('until', end, answer.closed, brush).map((row) => `  ${row}`));
    if (until !== null && until.how !== 'removed')
      rows.push(`    ${brush.quiet('superseded by')}  ${brush.cut(newer.line.raw, 160)}`);
    newer = wording;
  }
  return rows;
}

function sourceText(newest: KnownWording, answer: Answer, brush: Brush): string[] {
  const { sessions, madeOf, line, stateFrom } = answer;
  const rows: string[] = [];
  if (madeOf.length > 0)
    rows.push('', 'Made by code from:', ...madeOf.slice(0, listedLines).map((part) => listed(part, brush)));
  if (sessions.length === 0 && madeOf.length === 0)
    rows.push(
      '',
      newest.origin.maker.kind === 'person'
        ? 'No session stands behind it: the author of the commit does.'
        : `No session stands behind it: ${line.kind === 'bullet' ? 'it names none' : 'it is part of the form of the file'}, and the run wrote it.`,
    );
  if (stateFrom === 'published')
    rows.push(
      '',
      brush.quiet('The state was read from the published copy; its ref is not here, so trailers are believed.'),
    );
  if (stateFrom === 'none')
    rows.push('', brush.warn('There is no state here, so nothing is known of runs and sessions.'));
  return rows;
}
