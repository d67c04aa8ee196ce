import { sha256 } from '../../shared/thread-id.ts';
import type { EvidenceRow } from '../../state/types.ts';
import { seeded } from '../statistics.ts';
import type { Taught } from './books.ts';
import type { DaySession } from './days.ts';
import { wordsFromSamples } from './words.ts';

/** Sessions that teach nothing worth keeping. */
export const nothingShare = 0.25;

/** UTF-8 bytes of both texts of an output together, on average; single ones have a third to three times that. */
export const outputBytes = 2_500;

const evidenceEach = 6;

/** What sessions teach, in texts of their own; the same at every call. */
export async function teaching(): Promise<(session: DaySession) => Taught | null> {
  const words = await wordsFromSamples();
  return (session) => {
    if (session.lot < nothingShare) return null;
    const draw = seeded(Number.parseInt(sha256(session.threadId).slice(0, 8), 16));
    const bytes = outputBytes * 3 ** (2 * draw() - 1) * 0.82;
    const title = words(50, draw).slice(2, 70);
    return {
      title,
      slug: title.slice(0, 40),
      rawMemory: words(bytes * 0.55, draw),
      rolloutSummary: words(bytes * 0.45, draw),
      evidence: Array.from({ length: evidenceEach }, (_, index) => evidenceOf(session, index, Math.floor(draw() * 60))),
    };
  };
}

function evidenceOf({ threadId, author, at }: DaySession, index: number, gap: number): EvidenceRow {
  const n = index * 61 + gap + 2;
  return {
    threadId,
    n: String(n),
    who: index === 0 ? 'human' : 'tool',
    at: at - 3_600 + n,
    line: n,
    srcId: null,
    author,
    hash: sha256(`${threadId} ${n}`).slice(0, 32),
    hedged: false,
  };
}
