import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { passagesOf, withoutRepeats } from '../recall/search/passages.ts';
import { createRanking, rankPlainly } from '../recall/search/ranking.ts';
import { UsageError } from '../shared/errors.ts';
import { jsonFields } from '../shared/json.ts';
import type { World } from '../shared/main.ts';
import { cannotRead, sourcesIn } from './corpus.ts';
import { memoryOf } from './corpus-memory.ts';

/** What somebody asks, and words of the text that answers it. */
export interface Question {
  readonly ask: string;
  readonly answer: string;
}

/** How often a search found the answer. */
export interface Score {
  /** Shares of the questions whose answer came first, and among the first five. */
  readonly hitAt1: number;
  readonly hitAt5: number;
  /** Mean of one over the answer's rank; 0 where it was not found. */
  readonly mrr: number;
  /** Of what was searched. */
  readonly bytes: number;
}

export interface Retrieval {
  readonly questions: number;
  readonly memory: Score;
  /** Plain BM25 over the transcripts' records. */
  readonly transcripts: Score;
}

/** Plays one night without a model over a corpus, then asks its memory, and the transcripts themselves, every question. */
export async function measureRetrieval(world: World, folder: string, corpus: string, file: string): Promise<Retrieval> {
  const questions = parseQuestions(await readFile(file, 'utf8').catch(cannotRead(file)), file);
  const sources = await sourcesIn(corpus);
  const memory = await memoryOf(world, join(folder, 'repository'), sources);
  const passages = withoutRepeats([...memory].flatMap(([path, text]) => passagesOf(path, text)));
  const ranking = createRanking(passages);
  const records = await recordsIn(sources.map(({ path }) => path));
  const plain = rankPlainly(records);
  return {
    questions: questions.length,
    memory: scoreOf(questions, bytesOf([...memory.values()]), ({ ask }) =>
      ranking.search(ask, null).shown.map(({ passage }) => passage.body),
    ),
    transcripts: scoreOf(questions, bytesOf(records), ({ ask }) => plain(ask)),
  };
}

/** @throws UsageError that names the line. */
export function parseQuestions(text: string, file: string): Question[] {
  const questions = text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const { ask, answer } = jsonFields(line);
    if (typeof ask === 'string' && typeof answer === 'string' && ask.trim() !== '' && answer.trim() !== '')
      return [{ ask, answer }];
    throw new UsageError(
      `${file}, line ${index + 1}: no question.`,
      'A line is a JSON object: {"ask":"…","answer":"words of the text that answers it"}',
    );
  });
  if (questions.length > 0) return questions;
  throw new UsageError(`${file} holds no question.`, 'Write one JSON object a line: {"ask":"…","answer":"…"}');
}

export function scoreOf(
  questions: readonly Question[],
  bytes: number,
  search: (question: Question) => readonly string[],
): Score {
  const ranks = questions.map((question) => {
    const wanted = spaced(question.answer);
    return search(question).findIndex((text) => spaced(text).includes(wanted)) + 1;
  });
  const share = (holds: (rank: number) => boolean) => ranks.filter(holds).length / ranks.length;
  return {
    hitAt1: share((rank) => rank === 1),
    hitAt5: share((rank) => rank >= 1 && rank <= 5),
    mrr: ranks.reduce((sum, rank) => sum + (rank === 0 ? 0 : 1 / rank), 0) / ranks.length,
    bytes,
  };
}

export function retrievalText({ questions, memory, transcripts }: Retrieval): string {
  const row = (name: string, score: Score) =>
    `${name.padEnd(12)}  ${score.hitAt1.toFixed(3)}  ${score.hitAt5.toFixed(3)}  ${score.mrr.toFixed(3)}  ${String(score.bytes).padStart(12)}`;
  return [
    `${questions} questions      hit@1  hit@5  MRR           bytes`,
    row('memory', memory),
    row('transcripts', transcripts),
    '',
    `memory: a ranked search of what one night without a model made; transcripts: plain BM25 over their records.`,
    `The memory has ${((memory.bytes / Math.max(1, transcripts.bytes)) * 100).toFixed(1)} % of the transcripts' bytes.`,
  ].join('\n');
}

/** Every record of every transcript, as text without JSON's escapes. */
async function recordsIn(folders: readonly string[]): Promise<string[]> {
  const records: string[] = [];
  for (const folder of folders) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    for (const entry of entries.filter(({ name }) => /\.jsonl?$/.test(name))) {
      const text = await readFile(join(entry.parentPath ?? entry.path, entry.name), 'utf8');
      records.push(
        ...text
          .split('\n')
          .filter((line) => line !== '')
          .map(unescaped),
      );
    }
  }
  return records;
}

function unescaped(line: string): string {
  return line.replace(/\\[nrt]/g, ' ').replace(/\\(["\\/])/g, '$1');
}

function spaced(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function bytesOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
