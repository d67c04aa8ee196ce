import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Source } from '../rollout/source.ts';
import { jsonFields } from '../shared/json.ts';
import { namesOwn, readOwn } from './laptop-file.ts';
import { placeOf } from './roots.ts';

/** What hooks announced since the last time. */
export interface Spooled {
  /** Transcripts that may be read. */
  readonly files: readonly Source[];
  /** What was announced and is not read, with why. */
  readonly refused: readonly { readonly path: string; readonly why: string }[];
  /** Takes the announcements away that were read here; a later one of the same transcript stays. */
  clear(): Promise<void>;
}

/** More than one laptop's hooks announce in a day; the rest waits. */
const most = 10_000;

/** @returns nothing where no hook ever ran. */
export async function readSpool(folder: string, roots: readonly Source[]): Promise<Spooled> {
  const names = (await namesOwn(folder)).filter((name) => name.endsWith('.json')).slice(0, most);
  const files: Source[] = [];
  const refused: { path: string; why: string }[] = [];
  const read = new Map<string, string>();
  for (const name of names) {
    const text = await readOwn(join(folder, name));
    if (text === null) continue;
    read.set(name, text);
    const { agent, path } = announcementIn(text);
    const place = await placeOf(agent, path, roots);
    if ('refused' in place) refused.push({ path, why: place.refused });
    else files.push(place);
  }
  return {
    files,
    refused,
    async clear() {
      for (const [name, text] of read)
        if ((await readOwn(join(folder, name))) === text) await rm(join(folder, name), { force: true });
    },
  };
}

function announcementIn(text: string): { readonly agent: string; readonly path: string } {
  const { agent, path } = jsonFields(text);
  return typeof agent === 'string' && typeof path === 'string' ? { agent, path } : { agent: '', path: '' };
}
