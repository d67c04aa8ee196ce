import { arch, availableParallelism, platform, totalmem } from 'node:os';

/** What kind of machine measured; nothing that names it. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  readonly cores: number;
  /** Whole GiB. */
  readonly memoryGiB: number;
}

export function machine(): Machine {
  return {
    platform: platform(),
    arch: arch(),
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  };
}
