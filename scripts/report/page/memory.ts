import type { WireIndex, WireWords } from '../wire.ts';
import { byId } from './dom.ts';

/** What the page holds, read once. */
export const memory: WireIndex = JSON.parse(byId('index').textContent ?? '{}');

let told: Promise<readonly WireWords[]> | undefined;

/** The sessions' words, in the order of `memory.sessions`. They are packed, and unpacked when first asked for. */
export function sessionWords(): Promise<readonly WireWords[]> {
  told ??= unpacked(byId('words').textContent ?? '');
  return told;
}

async function unpacked(packed: string): Promise<readonly WireWords[]> {
  const bytes = Uint8Array.from(atob(packed.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}
