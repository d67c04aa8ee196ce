import { join } from 'node:path';

/** `CTM_HOME`, else the cache folder of the XDG base directories. */
export function cacheFolder({
  env,
  home,
}: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}): string {
  return env.CTM_HOME
    ? join(env.CTM_HOME, 'cache')
    : join(env.XDG_CACHE_HOME || join(home, '.cache'), 'commit-to-memory');
}
