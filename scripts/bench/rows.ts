import { day } from '../shared/clock.ts';
import { sha256 } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import { putEvidence } from '../state/evidence.ts';
import { newJob, putJob } from '../state/jobs.ts';
import { putOutput } from '../state/outputs.ts';
import { upsertThread } from '../state/threads.ts';
import type { Stage1Output } from '../state/types.ts';
import { summaryStem } from '../workspace/layout.ts';
import { sampleTexts } from './samples.ts';
import { seeded } from './statistics.ts';

export const rowScope = 'git.example.test/bench/shop';

/** Midnight of the day on which all rows were written. */
export const rowTime = 20_000 * day;

/** UTF-8 bytes of both texts of an output together. */
export const outputBytes = 4_096;

const evidenceEach = 8;

/**
 * As many sessions of one scope as an earlier night left them: thread, job, output of 4 KB from the samples' lines,
 * evidence. Equal counts give equal rows.
 */
export async function fillState(state: State, count: number): Promise<void> {
  const words = await sampleLines();
  state.transaction(() => {
    for (let index = 0; index < count; index += 1) {
      const threadId = threadIdOf(index);
      upsertThread(state, {
        threadId,
        agent: 'codex',
        origin: 'cli',
        author: null,
        repo: rowScope,
        aliases: [],
        cwd: '.',
        branch: 'main',
        commit: null,
        title: words[index % words.length] ?? '',
        startedAt: rowTime - 3_600,
        updatedAt: rowTime,
        firstSeenAt: rowTime,
        memoryMode: 'enabled',
      });
      putOutput(state, outputOf(words, index, 0));
      putEvidence(state, evidenceOf(threadId));
      putJob(state, {
        ...newJob('memory_stage1', threadId),
        status: 'done',
        finishedAt: rowTime,
        inputWatermark: rowTime,
        lastSuccessWatermark: rowTime,
        lastSuccessClass: 'llm',
      });
    }
  });
}

/** What the first sessions taught, in other words and a second later each. */
export async function changeOutputs(state: State, count: number): Promise<void> {
  const words = await sampleLines();
  for (let index = 0; index < count; index += 1) putOutput(state, outputOf(words, index, 1));
}

export function threadIdOf(index: number): string {
  const hash = sha256(`bench ${index}`);
  return [8, 4, 4, 4, 12]
    .map((length, part, all) => hash.slice(sum(all.slice(0, part)), sum(all.slice(0, part)) + length))
    .join('-');
}

function outputOf(words: readonly string[], index: number, version: number): Stage1Output {
  const draw = seeded(2 * index + version);
  const threadId = threadIdOf(index);
  return {
    threadId,
    extractorClass: 'llm',
    sourceUpdatedAt: rowTime + version,
    rawMemory: bullets(words, draw, outputBytes / 2),
    rolloutSummary: bullets(words, draw, outputBytes / 2),
    rolloutSlug: `session-${index}`,
    stem: summaryStem(threadId, rowTime - 3_600, `session-${index}`),
    generatedAt: rowTime,
    promptHash: sha256('prompt').slice(0, 16),
    runId: sha256('run').slice(0, 16),
  };
}

function bullets(words: readonly string[], draw: () => number, bytes: number): string {
  const lines: string[] = [];
  for (let left = bytes; left > 40; ) {
    const line = `- ${words[Math.floor(draw() * words.length)]} (@${1 + Math.floor(draw() * evidenceEach)})`;
    lines.push(Buffer.byteLength(line) < left ? line : `- ${'x'.repeat(left - 8)} (@1)`);
    left -= Buffer.byteLength(lines.at(-1) ?? '') + 1;
  }
  return lines.join('\n');
}

function evidenceOf(threadId: string) {
  return Array.from({ length: evidenceEach }, (_, index) => ({
    threadId,
    n: String(index + 1),
    who: index === 0 ? ('human' as const) : ('tool' as const),
    at: rowTime - 3_600 + index,
    line: 2 * index + 3,
    srcId: null,
    author: null,
    hash: sha256(`${threadId} ${index}`).slice(0, 32),
    hedged: false,
  }));
}

/** One line each, 20 to 110 characters. */
async function sampleLines(): Promise<string[]> {
  const lines = (await sampleTexts()).flatMap((text) => text.split(/[\r\n]+/)).map((line) => line.trim().slice(0, 110));
  return [...new Set(lines)].filter((line) => line.length >= 20);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
