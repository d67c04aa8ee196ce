import { join } from 'node:path';
import type { Found } from '../rollout/source.ts';
import { jsonFields } from '../shared/json.ts';
import { type Consent, parseConsent } from './consent.ts';
import type { Laptop } from './laptop.ts';
import { namesOwn, readOwn } from './laptop-file.ts';

/** Whether this laptop keeps a session out: by its list of ids, or because the session's hook said so. */
export interface OptedOutHere {
  (found: Pick<Found, 'thread' | 'path'>): boolean;
  readonly paths: readonly string[];
}

export async function optedOutHere({ optOut }: Pick<Consent, 'optOut'>, laptop: Laptop): Promise<OptedOutHere> {
  const paths = await pathsIn(laptop.optedOut);
  const known = new Set(paths);
  return Object.assign(
    ({ thread, path }: Pick<Found, 'thread' | 'path'>) => optOut.includes(thread.id) || known.has(path),
    { paths },
  );
}

/** What keeps sessions out where nothing is sent: a night over this machine's own sessions. */
export async function laptopOptOuts(
  laptop: Laptop,
): Promise<{ readonly isOptedOut: OptedOutHere; readonly optOutWord: string | undefined }> {
  const text = await readOwn(laptop.consent);
  const consent = text === null ? null : parseConsent(text, laptop.consent);
  return {
    isOptedOut: await optedOutHere({ optOut: consent?.optOut ?? [] }, laptop),
    optOutWord: consent?.optOutWord,
  };
}

/** As `hook.mjs` wrote them. What it did not write whole is none. */
async function pathsIn(folder: string): Promise<string[]> {
  const paths: string[] = [];
  for (const name of await namesOwn(folder)) {
    const text = name.endsWith('.json') ? await readOwn(join(folder, name)) : null;
    const path = text === null ? null : pathIn(text);
    if (path !== null) paths.push(path);
  }
  return paths;
}

function pathIn(text: string): string | null {
  const { path } = jsonFields(text);
  return typeof path === 'string' ? path : null;
}
