import type { Item } from '../rollout/types.ts';
import { isoTime } from '../shared/clock.ts';
import { rolloutPath, summaryPath } from '../workspace/layout.ts';
import type { Brush } from './brush.ts';
import type { Answer } from './run.ts';
import type { CitedItem, Fate } from './sessions.ts';
import type { Words } from './words.ts';

type ShownSession = Answer['sessions'][number];

/**
 * A session behind a line: what it was, what phase 1 made of it, and the words at each cited item.
 * @param line the line itself: of long words the part that it quotes is shown.
 */
export function sessionText(session: ShownSession, line: string, brush: Brush): string[] {
  const { shortId, threadId, thread, output, note, fate, items, words } = session;
  const rows = [`${brush.strong(`session ${shortId}`)}${threadId === null ? '' : `  ${brush.plain(threadId)}`}`];
  if (note !== null) {
    const { kind, path, authority, author, channel, at } = note;
    const who = author === null ? authority : `${author}, ${authority}`;
    rows.push(
      `  ${brush.plain(`${kind === 'note' ? 'a note' : 'an imported file'} of ${who}, by ${channel}`)}${at === null ? '' : `, ${isoTime(at)}`}`,
      `  ${brush.quiet('file')}  ${brush.plain(path)}`,
    );
  }
  if (fate !== null) rows.push(`  ${brush.warn(fateText(fate))}`);
  if (thread !== null) {
    const { agent, author, title, startedAt, repo, commit, branch, cwd } = thread;
    rows.push(
      `  ${brush.plain(agent)}, ${isoTime(startedAt)}${author === null ? '' : `, ${brush.plain(author)}`}: ${brush.cut(title, 100)}`,
      `  ${brush.quiet('rollout')}  ${brush.plain(rolloutPath(thread.threadId, startedAt))}`,
      `  ${brush.quiet('code')}  ${brush.plain(`${repo}, ${commit === null ? 'commit unknown' : `commit ${commit}`}${branch === null ? '' : `, branch ${branch}`}, folder ${cwd}`)}`,
    );
  }
  if (output !== null)
    rows.push(
      `  ${brush.quiet('stage 1')}  ${output.extractorClass}, run ${brush.plain(output.runId)}, prompts ${brush.plain(output.promptHash.slice(0, 16))}, ${isoTime(output.generatedAt)}`,
      `  ${brush.quiet('summary')}  ${brush.plain(summaryPath(output.stem))}`,
    );
  return [
    ...rows,
    ...items.flatMap((item) => itemText(item, words.find(({ n }) => n === item.n) ?? null, session, line, brush)),
  ];
}

/** Columns of an item's words, and of those around them. */
const shownWords = 800;
const shownAround = 160;

function itemText(
  { n, row, forgotten }: CitedItem,
  words: Words | null,
  { fate, note }: ShownSession,
  line: string,
  brush: Brush,
): string[] {
  const facts =
    row === null
      ? note === null
        ? 'the state has no such item'
        : 'what it says'
      : `${row.who}${row.at === null ? '' : `, ${isoTime(row.at)}`}, line ${row.line} of its file${row.hedged ? ', hedged' : ''}`;
  const head = `  ${brush.strong(`@${n}`)}  ${facts}`;
  const rows = [words === null ? head : `${head}; words ${from[words.from]}`];
  if (forgotten !== null)
    rows.push(`      ${brush.warn(`forgotten since ${isoTime(forgotten.setAt)}: ${forgotten.reason}`)}`);
  if (words === null) {
    if (fate === null && note === null)
      rows.push(
        `      ${brush.quiet('Its words can no longer be had: the rollout has expired, and the summary does not quote it.')}`,
      );
    return rows;
  }
  if (words.unchanged === false)
    rows.push(
      `      ${brush.warn('These are not the words that phase 1 read: the session, or what is redacted, has changed.')}`,
    );
  return [
    ...rows,
    ...around(words.before, brush),
    `    ${brush.good('│')} ${brush.cut(quotedPart(words.text, line), shownWords)}`,
    ...around(words.after, brush),
  ];
}

/** A long text from a little before what the line quotes of it; whole where it quotes nothing of it. */
function quotedPart(text: string, line: string): string {
  if (text.length <= shownWords) return text;
  const quotes = [...line.matchAll(/["“`]([^"”`]{4,400})["”`]/g)].map((match) => match[1] ?? '');
  const at = quotes.map((quote) => text.indexOf(quote)).find((place) => place >= 0) ?? 0;
  return at < shownAround ? text : `…${text.slice(at - shownAround)}`;
}

const from: Readonly<Record<Words['from'], string>> = {
  rollouts_ref: 'from the rollouts ref',
  this_machine: 'from this machine’s own sessions',
  note: 'from its file',
  summary: 'as the summary has them; the rollout is not at hand',
};

function around(item: Item | null, brush: Brush): string[] {
  return item === null ? [] : [`    ${brush.quiet(`· ${item.who} @${item.n}:`)} ${brush.cut(item.text, shownAround)}`];
}

function fateText(fate: Fate): string {
  switch (fate.kind) {
    case 'forgotten':
      return `This session was forgotten at ${isoTime(fate.since)}: ${fate.reason}`;
    case 'author_forgotten':
      return `Its author's sessions were forgotten at ${isoTime(fate.since)}: ${fate.reason}`;
    case 'disabled':
      return 'This session was taken out of the memory.';
    case 'polluted':
      return 'This session was taken out of the memory: it saw what nothing may be learned from.';
    case 'output_pruned':
      return 'What was made of this session has been let go: nobody used it for long.';
    case 'pruned':
      return `The state has let go of this session: it is older than ${isoTime(fate.horizon)}, before which nothing unused is kept.`;
    case 'unknown':
      return 'The state knows no such session.';
  }
}
