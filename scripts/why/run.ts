import type { CommitInfo, Repository } from '../git/types.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Files, Oid } from '../shared/files.ts';
import { linesOf as personsLinesOf } from '../state/lines.ts';
import type { LineRow } from '../state/types.ts';
import { entriesIn } from '../workspace/extension.ts';
import { parseHandbook, scopeOf } from '../workspace/handbook.ts';
import { everywhere, handbookPath, memorySummaryPath } from '../workspace/layout.ts';
import { type Later, laterOf, type Removal } from './fate.ts';
import { linesOf, type MemoryLine } from './lines.ts';
import { type CommitFacts, factsOf, type Witnesses } from './maker.ts';
import type { KnownState } from './open-state.ts';
import { goneLine } from './past.ts';
import { findLine, type Question } from './question.ts';
import { type Session, sessionsBehind } from './sessions.ts';
import { traceBack, type Wording } from './trace.ts';
import { type Archives, type Words, wordsOf } from './words.ts';

export interface Asked {
  readonly question: Question;
  readonly head: Oid;
  /** The commit whose memory is asked about. */
  readonly at: CommitInfo;
  /** Everything below `memories/` there. */
  readonly files: Files;
  readonly history: boolean;
}

/** A wording with what is known of the commits at both ends of its life. */
export interface KnownWording extends Wording {
  readonly origin: CommitFacts;
  readonly end: CommitFacts | null;
}

export interface KnownRemoval extends Removal {
  readonly facts: CommitFacts;
}

/** Why a line is believed. */
export interface Answer {
  readonly line: MemoryLine;
  /** The newest first; one unless the history was asked for. */
  readonly wordings: readonly KnownWording[];
  /** What became of it up to HEAD; null where it is asked of HEAD and stands there. */
  readonly later: Exclude<Later, { kind: 'gone' }> | { readonly kind: 'gone'; readonly removal: KnownRemoval } | null;
  readonly sessions: readonly (Session & { readonly words: readonly Words[] })[];
  /** Lines of the handbook that a line of the summary was made of. */
  readonly madeOf: readonly MemoryLine[];
  /** A person wrote or pinned it, as the table `lines` has it. */
  readonly persons: LineRow | null;
  readonly stateFrom: KnownState['from'];
  readonly isCut: boolean;
  /** Of the commits, numbers of pull requests that were closed without a merge. */
  readonly closed: ReadonlySet<string>;
}

export type Outcome =
  | { readonly outcome: 'answer'; readonly answer: Answer }
  | { readonly outcome: 'several'; readonly lines: readonly MemoryLine[] }
  | { readonly outcome: 'none'; readonly near: readonly MemoryLine[] };

/** Finds the line, follows it back to where it came from, and gathers what stands behind it. */
export async function why(
  repository: Repository,
  asked: Asked,
  known: KnownState,
  archives: Archives,
): Promise<Outcome> {
  const found = findLine(asked.question, asked.files);
  if (found.outcome === 'several') return found;
  if (found.outcome === 'one') return answered(found.line, asked.at.oid, null);
  const { question } = asked;
  const gone =
    asked.history && question.kind === 'text' ? await goneLine(repository, asked.at.oid, question.text) : null;
  return gone === null ? found : answered(gone.line, gone.at.oid, gone.removal);

  async function answered(line: MemoryLine, from: Oid, removal: Removal | null): Promise<Outcome> {
    const witnesses = { repository, state: known.state, records: known.records };
    const wordings = await traceBack(repository, line, from, known.records, { whole: asked.history });
    if (wordings.length === 0) throw untraced(line);
    const madeOf = partsOf(line, asked.files);
    const evidence = [line, ...madeOf].flatMap((each) => each.evidence);
    const sessions = sessionsBehind(known.state, { ...line, evidence }, entriesIn(asked.files));
    const shown = asked.history ? wordings : wordings.slice(0, 1);
    const answer: Answer = {
      line,
      wordings: await inOrder(shown, (wording) => knownWording(wording, witnesses)),
      later: await laterFacts(repository, line, asked, removal, witnesses),
      sessions: await inOrder(sessions, async (session) => ({
        ...session,
        words: await wordsOf(session, asked.files, archives),
      })),
      madeOf,
      persons: personsLinesOf(known.state, line.scope).find(({ hash }) => hash === line.hash) ?? null,
      stateFrom: known.from,
      isCut: wordings.some(({ how }) => how === 'unknown'),
      closed: known.closed,
    };
    return { outcome: 'answer', answer };
  }
}

function untraced({ path, line }: MemoryLine): MemoryError {
  return new MemoryError(`The history of ${path}:${line} cannot be read.`, 'Check the repository: git fsck.');
}

async function inOrder<A, B>(values: readonly A[], change: (value: A) => Promise<B>): Promise<B[]> {
  const changed: B[] = [];
  for (const value of values) changed.push(await change(value));
  return changed;
}

async function knownWording(wording: Wording, witnesses: Witnesses): Promise<KnownWording> {
  const { since, via, until } = wording;
  const origin = await factsOf(since, via, witnesses);
  return { ...wording, origin, end: until === null ? null : await factsOf(until.commit, [], witnesses) };
}

async function laterFacts(
  repository: Repository,
  line: MemoryLine,
  { at, head }: Asked,
  removal: Removal | null,
  witnesses: Witnesses,
): Promise<Answer['later']> {
  if (removal !== null) return { kind: 'gone', removal: await knownRemoval(removal, witnesses) };
  if (at.oid === head) return null;
  const later = await laterOf(repository, line, at.oid, head);
  return later.kind === 'stands' ? later : { kind: 'gone', removal: await knownRemoval(later.removal, witnesses) };
}

async function knownRemoval(removal: Removal, witnesses: Witnesses): Promise<KnownRemoval> {
  const via = removal.merge === null ? [] : [{ kind: 'merge' as const, commit: removal.merge }];
  return { ...removal, facts: await factsOf(removal.commit, via, witnesses) };
}

/** Code makes the summary: its lines are bullets that hold everywhere, or say what the handbook has of a repository. */
function partsOf(line: MemoryLine, files: Files): MemoryLine[] {
  if (line.path !== memorySummaryPath || line.kind !== 'bullet') return [];
  const text = files.get(handbookPath) ?? '';
  const lines = linesOf(handbookPath, text);
  const same = lines.filter(({ scope, hash }) => scope === everywhere && hash === line.hash);
  if (same.length > 0) return same;
  const titles = new Set(
    parseHandbook(text)
      .blocks.filter((block) => line.raw === `- ${scopeOf(block)}` || line.raw.startsWith(`- ${scopeOf(block)}: `))
      .map((block) => block.line),
  );
  return lines.filter((each) => titles.has(each.line));
}
