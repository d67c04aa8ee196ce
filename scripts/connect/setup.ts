import type { Programs } from './pinned.ts';

/** The memory repository as it is named on the command line. */
export interface MemoryPlace {
  /** What hooks are told: the absolute folder of a clone, or an address. */
  readonly named: string;
  /** The clone's working tree; null: only an address is known. */
  readonly clone: string | null;
  /** How its team calls it: `host/path`, or the folder. */
  readonly name: string;
  /** This laptop agreed to send sessions there. */
  readonly consented: boolean;
}

/** What connecting needs of the other parts of the program. */
export interface Setup {
  /** Of this program. */
  readonly version: string;
  /** Where this laptop keeps what it remembers. */
  readonly state: string;
  /** @param named undefined: the repository that this runs in. @throws MemoryError where there is none. */
  memory(named: string | undefined): Promise<MemoryPlace>;
  /** `recall.cjs` and, where sessions are collected, `collect.mjs` and `collector.mjs`: each one file that stands alone. */
  programs(collects: boolean): Promise<Programs>;
  /** Starts our MCP server: a program and its arguments, each as it is; `--memory <clone>` follows. */
  readonly server: readonly string[];
  /** What a session in this folder would be given; '' for nothing. */
  recalled(place: MemoryPlace, project: string): Promise<string>;
  /** Ids of the repository’s remotes. */
  repositories(project: string): Promise<readonly string[]>;
}
