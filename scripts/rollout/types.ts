import type { EpochSeconds } from '../shared/clock.ts';
import type { ItemNumber } from '../shared/evidence.ts';
import type { MemorySeen } from './memory-seen.ts';

/** The agents whose transcripts we read: one reader file each. */
export const agents = ['codex', 'claude-code', 'copilot', 'gemini', 'opencode', 'pi'] as const;

export type Agent = (typeof agents)[number];

/**
 * Who said it. `human`: the person's own words or typed command. `assistant`: the model's final words of a turn.
 * `commentary`: the model's words on the way. `other_agent`: words of or to a sub-agent. `harness`: what the program
 * put in. `tool`: calls and their outputs.
 */
export type Who = 'human' | 'assistant' | 'commentary' | 'other_agent' | 'harness' | 'tool';

export type Kind = 'text' | 'call' | 'output';

/** What a call does, whatever the agent names its tool. */
export type Does = 'shell' | 'edit' | 'read' | 'search' | 'web' | 'mcp' | 'agent' | 'other';

/** One thing that somebody said or did. Numbered by its source record, so that no filter renumbers. */
export interface Item {
  readonly n: ItemNumber;
  /** null where the record has no time. */
  readonly at: EpochSeconds | null;
  readonly who: Who;
  readonly kind: Kind;
  /** Words; the command line of a shell call; the patch or arguments (JSON) of another; a tool's output. Sanitised. */
  readonly text: string;
  /** The agent's own name of the tool: calls, and outputs whose call is known. */
  readonly tool?: string;
  readonly does?: Does;
  /** Joins a call and its output. */
  readonly call?: string;
  /** Exit status of an output; 1 where the agent only says that it failed, absent where it says nothing. */
  readonly exit?: number;
  /** Files that an edit names: relative to the repository's root, `~/…` outside it. */
  readonly files?: readonly string[];
  readonly src: { readonly line: number; readonly id?: string };
}

/** A session, as the state and the rollouts ref know it. */
export interface Thread {
  readonly id: string;
  readonly agent: Agent;
  /** How it was started: `cli`, `ide`, `exec`, `sdk`, or the agent's own word in lower case. */
  readonly origin: string;
  /** `root` sessions feed memory; `sub_agent`, `ephemeral` and our `own` runs never do. */
  readonly kind: 'root' | 'sub_agent' | 'ephemeral' | 'own';
  /** Repository id (design §2): `host/path`, `local:<12 hex>` or `none`. */
  readonly repo: string;
  /** Its other remotes' ids. */
  readonly aliases: readonly string[];
  /** Relative to the repository's root (`.` is the root), `~/…` outside; never a home path. */
  readonly cwd: string;
  readonly branch: string | null;
  readonly commit: string | null;
  readonly author: string | null;
  /** The first human words, one line, at most 120 characters. */
  readonly title: string;
  readonly startedAt: EpochSeconds;
  /** The greatest time of any record that became an item (or of the session's start), never the file's. */
  readonly updatedAt: EpochSeconds;
}

/** Records that gave no item: reason → count. `bad_json`, `too_long`, `unknown:<type>`, `repeated`, `<known type>`. */
export type Counts = Readonly<Record<string, number>>;

/** The canonical form: what readers produce, the rollouts ref stores and phase 1 reads. */
export interface Rollout {
  readonly thread: Thread;
  readonly source: {
    readonly agent: Agent;
    readonly lines: number;
    readonly bytes: number;
    readonly sha256: string;
  };
  readonly skipped: Counts;
  /** Redaction rule → secrets removed. Empty until the rollout went through the redactor. */
  readonly redaction: Counts;
  /** Absent where no memory was shown, and in what was stored before this was noted. */
  readonly memory?: MemorySeen;
  readonly items: readonly Item[];
}
