import type { Reached } from '../git/reachable.ts';
import { withoutEvidence } from '../shared/evidence.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import type { Applied } from './apply.ts';
import type { Chosen } from './doomed.ts';
import { type Form, plain, wordsOf } from './words.ts';

/** Knows what was forgotten wherever it stands: the words, the sessions' ids, the author in our own files. */
export interface Trace {
  formIn(reached: Pick<Reached, 'bytes' | 'name'>): Form | null;
}

/** Texts that are looked for beside the names: the longest, as they are nobody else's. */
const mostTexts = 400;
const shortestText = 24;

export function traceOf(
  chosen: Chosen,
  { texts, remaining, doomed }: Pick<Applied, 'texts' | 'remaining' | 'doomed'>,
): Trace {
  // Whose a session was is not known any more when a person is forgotten again.
  const threads = chosen.author === null ? chosen.threads : doomed.threads;
  const standing = plain(remaining);
  const own = [...texts, ...chosen.copies.map(({ text }) => text)]
    .map(bare)
    .filter((text) => text.length >= shortestText && !standing.includes(plain(text)))
    .sort((a, b) => b.length - a.length)
    .slice(0, mostTexts);
  // Words that were asked for speak for themselves; what a session said is known by its own lines.
  const isNamed = chosen.words.length > 0 || chosen.lines.length > 0;
  const words = wordsOf([
    ...chosen.words,
    ...chosen.lines.map(bare),
    ...(isNamed ? [] : own),
    ...[...threads].flatMap((id) => [id, `[${shortThreadId(id)}@`]),
  ]);
  const author = chosen.author === null ? null : JSON.stringify(chosen.author);
  return {
    formIn: ({ bytes, name }) => {
      const own = name === 'state.sqlite.json' ? withoutTombstones(bytes) : bytes;
      if (author !== null && isOurs(name) && own.includes(author)) return 'plain';
      return words.formIn(own);
    },
  };
}

/** A line's words, without its marker and its evidence. */
function bare(line: string): string {
  return withoutEvidence(line)
    .replace(/^[\s*+-]+/, '')
    .trim();
}

function isOurs(name: string): boolean {
  return name === 'state.sqlite.json' || name.endsWith('.jsonl');
}

/** What says that a session is forgotten has to name it. */
function withoutTombstones(bytes: Buffer): Buffer {
  const lines = bytes.toString('utf8').split('\n');
  return Buffer.from(lines.filter((line) => !/^\["(?:evidence|thread|author)","/.test(line)).join('\n'));
}
