import { open } from 'node:fs/promises';
import { renewed } from './renew.ts';
import { isSaid, type Sample } from './samples.ts';
import { seeded } from './statistics.ts';
import { megabyte } from './types.ts';

export interface TranscriptSpec {
  readonly bytes: number;
  /** Share of the bytes in lines that nobody said: 0…1. */
  readonly skippable: number;
  readonly seed: number;
  readonly session: string;
}

/**
 * One long Claude Code session from the samples': what people and model said in its order, over and over under new
 * ids, and between it lines that nobody said, drawn so that they hold their share of the bytes.
 */
export function* transcriptLines(samples: readonly Sample[], spec: TranscriptSpec): Generator<string> {
  const claude = samples.filter(({ agent }) => agent === 'claude-code');
  const talk = claude.flatMap(({ id, lines }) => lines.filter(isSaid).map((line) => ({ id, line })));
  const rest = claude.flatMap(({ id, lines }) => lines.filter((line) => !isSaid(line)).map((line) => ({ id, line })));
  const draw = seeded(spec.seed);
  let [said, skipped, at] = [0, 0, 0];
  while (said + skipped < spec.bytes) {
    const isTalk = skipped >= (said + skipped) * spec.skippable;
    const next = isTalk ? talk[at % talk.length] : rest[Math.floor(draw() * rest.length)];
    if (next === undefined) throw new RangeError('The samples hold no lines of that kind.');
    const copy = isTalk ? 1 + Math.floor(at / talk.length) : 1 + at;
    const line = renewed(next.line, copy, { from: next.id, to: spec.session });
    if (isTalk) at += 1;
    if (isTalk) said += Buffer.byteLength(line) + 1;
    else skipped += Buffer.byteLength(line) + 1;
    yield line;
  }
}

/** Writes the lines in pieces, so that a long session never stands in memory. @returns its bytes */
export async function writeTranscript(path: string, lines: Iterable<string>): Promise<number> {
  const file = await open(path, 'wx', 0o600);
  let bytes = 0;
  let piece = '';
  const flush = async (): Promise<void> => {
    bytes += (await file.write(piece)).bytesWritten;
    piece = '';
  };
  try {
    for (const line of lines) {
      piece += `${line}\n`;
      if (piece.length > megabyte) await flush();
    }
    await flush();
    return bytes;
  } finally {
    await file.close();
  }
}
