import type { Readable } from 'node:stream';

export interface FrameEvents {
  frame(text: string): void;
  /** A frame over the limit was thrown away; `end` is the last of it. */
  tooLong(end: string): void;
  /** Nothing comes any more. */
  ended(): void;
}

/** Bytes of a frame that was thrown away that are kept, to see whose it was. */
const keptBytes = 256;

/**
 * Reads frames, one a line, from a stream. One that is longer than `mostBytes` is never held in memory, and an unfinished
 * last one is none.
 * @returns stops reading.
 */
export function readFrames(input: Readable, mostBytes: number, on: FrameEvents): () => void {
  let parts: Buffer[] = [];
  let bytes = 0;
  const add = (part: Buffer) => {
    bytes += part.length;
    parts.push(part);
    if (bytes > mostBytes) parts = [Buffer.concat(parts).subarray(-keptBytes)];
  };
  const finish = () => {
    const text = Buffer.concat(parts).toString('utf8').replace(/\r$/, '');
    if (bytes > mostBytes) on.tooLong(text);
    else if (text.trim() !== '') on.frame(text);
    parts = [];
    bytes = 0;
  };
  const take = (chunk: Buffer) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, end));
      finish();
      from = end + 1;
    }
    if (from < chunk.length) add(chunk.subarray(from));
  };
  input.on('data', take);
  input.once('end', on.ended);
  input.once('error', on.ended);
  return () => {
    input.off('data', take);
    input.off('end', on.ended);
    input.off('error', on.ended);
    input.destroy();
  };
}
