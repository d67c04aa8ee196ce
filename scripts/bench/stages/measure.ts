import type { Learned } from '../../phase1/record.ts';
import { readers } from '../../rollout/readers.ts';
import type { Source } from '../../rollout/source.ts';
import { type Place, rolloutOf } from '../../rollout/thread.ts';
import type { Rollout } from '../../rollout/types.ts';
import { sessionFiles } from '../../rollout/walk.ts';
import { stopwatch } from '../../shared/clock.ts';
import { MemoryError } from '../../shared/errors.ts';
import { createRedactor } from '../../shared/redact.ts';
import { emptyState } from '../../state/snapshot.ts';
import { answerTo } from '../answer.ts';
import { median, type Processor, rate } from '../statistics.ts';
import { megabyte } from '../types.ts';
import { pipelineWith } from './pipeline.ts';
import { record } from './recorder.ts';

/** In the order of a night. */
export const stageNames = ['read', 'redact', 'filter', 'tier', 'request', 'parse', 'record'] as const;

export type StageName = (typeof stageNames)[number];

export interface StageRow {
  readonly stage: StageName | 'all';
  /** Milliseconds a rollout. */
  readonly ms: number;
  /** Of the sessions' own bytes. */
  readonly megabytesPerSecond: number;
  readonly rolloutsPerSecond: number;
}

export interface Stages {
  readonly rollouts: number;
  readonly bytes: number;
  /** Files that hold no session of their agent, or cannot be read. */
  readonly ignored: number;
  /** How often all was measured: each figure is the median. */
  readonly passes: number;
  readonly stages: readonly StageRow[];
}

/** Sessions that are played first and do not count. */
const warmUp = 100;
/** A corpus that is larger than this is measured once. */
const repeatedBytes = 60 * megabyte;
const mostPasses = 3;
/** Recorded in one transaction, so that a corpus of any size fits into memory. */
const recordedAtOnce = 100;

/**
 * Plays every session of the sources through phase 1, one after the other and without a model: what a server would
 * answer is made up between the stages and not counted.
 * @param progress is told the sessions so far
 * @throws MemoryError where no file is a session, and the signal's reason.
 */
export async function measureStages(
  processor: Processor,
  sources: readonly Source[],
  place: Place,
  progress: (done: number, total: number) => void,
  signal?: AbortSignal,
): Promise<Stages> {
  const files: SessionFile[] = [];
  for (const { agent, path } of sources)
    for (const file of (await sessionFiles(path, readers[agent], signal)).paths) files.push({ agent, path: file });
  await play(processor, files.slice(0, warmUp), place, () => {}, signal);
  const passes: Pass[] = [];
  do passes.push(await play(processor, files, place, (done) => progress(done, files.length), signal));
  while (passes.length < mostPasses && (passes[0]?.bytes ?? 0) <= repeatedBytes);
  const [first] = passes;
  if (first === undefined || first.rollouts === 0)
    throw new MemoryError(
      'There is no session to measure.',
      'Name a corpus whose folders are named after their agents.',
    );
  return { ...sizeOf(first), passes: passes.length, stages: rowsOf(passes, first) };
}

interface SessionFile {
  readonly agent: Source['agent'];
  readonly path: string;
}

interface Pass {
  readonly rollouts: number;
  readonly bytes: number;
  readonly ignored: number;
  readonly ms: Readonly<Record<StageName, number>>;
}

async function play(
  processor: Processor,
  files: readonly SessionFile[],
  place: Place,
  progress: (done: number) => void,
  signal?: AbortSignal,
): Promise<Pass> {
  const ms: Record<StageName, number> = { read: 0, redact: 0, filter: 0, tier: 0, request: 0, parse: 0, record: 0 };
  const timed = async <T>(stage: StageName, work: () => T | Promise<T>): Promise<T> => {
    const elapsed = stopwatch();
    const before = processor.cpuTime();
    const result = await work();
    ms[stage] += Math.min(elapsed(), processor.cpuTime() - before);
    return result;
  };
  const pipeline = pipelineWith(createRedactor({}));
  const state = await emptyState();
  const [learned, size]: [Learned[], { rollouts: number; bytes: number; ignored: number }] = [
    [],
    { rollouts: 0, bytes: 0, ignored: 0 },
  ];
  for (const [index, file] of files.entries()) {
    signal?.throwIfAborted();
    progress(index);
    const whole = await timed('read', () => readWhole(file, place, signal));
    if (whole === null) size.ignored += 1;
    else {
      size.rollouts += 1;
      size.bytes += whole.source.bytes;
      const rollout = await timed('redact', () => pipeline.redact(whole));
      const items = await timed('filter', () => pipeline.filter(rollout));
      const rendering = await timed('tier', () => pipeline.tier(items));
      const request = await timed('request', () => pipeline.request(rollout, items, rendering));
      const answer = answerTo(request);
      const taught = await timed('parse', () => pipeline.parse(rollout, rendering, answer));
      if (taught !== null) learned.push(taught);
    }
    if (learned.length === recordedAtOnce || index === files.length - 1)
      await timed('record', () => record(state, learned.splice(0)));
  }
  state.close();
  return { ...size, ms };
}

/** null for a file that is no session of its agent, and for one that cannot be read. */
async function readWhole({ agent, path }: SessionFile, place: Place, signal?: AbortSignal): Promise<Rollout | null> {
  try {
    const reading = await readers[agent].read(path, { home: place.home, ...(signal === undefined ? {} : { signal }) });
    return reading.outcome === 'session' ? rolloutOf(reading.session, place) : null;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

function sizeOf({ rollouts, bytes, ignored }: Pass): Pick<Stages, 'rollouts' | 'bytes' | 'ignored'> {
  return { rollouts, bytes, ignored };
}

function rowsOf(passes: readonly Pass[], { rollouts, bytes }: Pass): StageRow[] {
  const row = (stage: StageRow['stage'], taken: (pass: Pass) => number): StageRow => {
    const ms = median(passes.map(taken));
    return {
      stage,
      ms: ms / rollouts,
      megabytesPerSecond: rate(bytes, ms),
      rolloutsPerSecond: rollouts / (ms / 1_000),
    };
  };
  const all = ({ ms }: Pass) => stageNames.reduce((sum, stage) => sum + ms[stage], 0);
  return [...stageNames.map((stage) => row(stage, ({ ms }) => ms[stage])), row('all', all)];
}
