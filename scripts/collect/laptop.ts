import { join } from 'node:path';

/** Where this laptop keeps what concerns collecting. */
export interface Laptop {
  /** What it agreed to. */
  readonly consent: string;
  /** What was sent, the spool and the lock. */
  readonly state: string;
  /** One file a transcript that a hook announced. */
  readonly spool: string;
  /** One file a transcript that its hook keeps out of memory. */
  readonly optedOut: string;
}

/** `CTM_HOME`, else the folders of the XDG base directories. `hook.mjs` finds them by the same rule. */
export function laptopOf(env: Readonly<Record<string, string | undefined>>, home: string): Laptop {
  const own = env.CTM_HOME;
  const config = own || join(env.XDG_CONFIG_HOME || join(home, '.config'), 'commit-to-memory');
  const state = own ? join(own, 'state') : join(env.XDG_STATE_HOME || join(home, '.local/state'), 'commit-to-memory');
  return {
    consent: join(config, 'collect.yml'),
    state,
    spool: join(state, 'spool'),
    optedOut: join(state, 'opted-out'),
  };
}
