import { join } from 'node:path';
import { hashed } from '../rollout/forks.ts';
import { type Agent, agents } from '../rollout/types.ts';
import { byBinary } from '../shared/files.ts';
import { jsonFields, parsedJson } from '../shared/json.ts';
import { sha256 } from '../shared/thread-id.ts';
import { readOwn, writeOwn } from './laptop-file.ts';

/** What is known of a transcript since it was last read: while its fingerprint stays, it costs a look at its file. */
export interface Seen {
  readonly agent: Agent;
  readonly path: string;
  /** `fingerprintOf` at that time. */
  readonly fingerprint: string;
  /** sha256 of its bytes; '' where it is no session. */
  readonly sha256: string;
  readonly thread: string;
  /** `Found.kin`. */
  readonly kin: readonly string[];
  /** Items at its start that it only repeats from others, which may be gone by now. */
  readonly repeated: number;
  /** The ref has it, or refuses it for good; else it stays here for a reason that may end when the rules change. */
  readonly isSettled: boolean;
}

/** By path. */
export type SeenByPath = ReadonlyMap<string, Seen>;

const format = 'ctm-seen';
const version = 2;
/** Like this one, but for names of kin that are not hashed. */
const versionBefore = 1;

/** One file for each place that sessions are sent to. */
export function seenPath(stateFolder: string, memory: string, ref: string): string {
  return join(stateFolder, `seen-${sha256(`${memory} ${ref}`).slice(0, 16)}.jsonl`);
}

/**
 * @param rules a hash of what decides who is sent: what was left out under others is looked at again.
 * @returns nothing where the file is missing, damaged or newer: then every session is read once more, and what the ref
 * holds already is not sent again.
 */
export async function loadSeen(path: string, rules: string): Promise<SeenByPath> {
  const lines = ((await readOwn(path)) ?? '').split('\n');
  const head = jsonFields(lines[0] ?? '');
  const isBefore = head.version === versionBefore;
  if (head.format !== format || !(isBefore || head.version === version)) return new Map();
  const rows = lines.slice(1).flatMap((line) => {
    const found = seenIn(parsedJson(line));
    if (found === null) return [];
    const row = isBefore ? { ...found, kin: found.kin.map(hashed) } : found;
    return [row.isSettled || head.rules === rules ? row : { ...row, fingerprint: '' }];
  });
  return new Map(rows.map((row) => [row.path, row]));
}

export async function saveSeen(path: string, rules: string, seen: SeenByPath): Promise<void> {
  const rows = [...seen.values()].sort((a, b) => byBinary(a.path, b.path));
  const lines = rows.map((row) =>
    JSON.stringify([
      row.agent,
      row.path,
      row.fingerprint,
      row.sha256,
      row.thread,
      row.kin,
      row.repeated,
      row.isSettled,
    ]),
  );
  await writeOwn(path, `${[JSON.stringify({ format, version, rules }), ...lines].join('\n')}\n`);
}

/** The transcripts among `known` that share kin with the given names. */
export function relatives(kin: ReadonlySet<string>, known: SeenByPath): Seen[] {
  return [...known.values()].filter((row) => row.kin.some((name) => kin.has(name)));
}

function seenIn(row: unknown): Seen | null {
  if (!Array.isArray(row)) return null;
  const [name, path, fingerprint, hash, thread, kin, repeated, isSettled] = row as unknown[];
  const agent = agents.find((known) => known === name);
  if (agent === undefined) return null;
  if (typeof path !== 'string' || typeof fingerprint !== 'string' || typeof hash !== 'string') return null;
  if (typeof thread !== 'string' || !Array.isArray(kin) || kin.some((name) => typeof name !== 'string')) return null;
  if (!Number.isSafeInteger(repeated) || typeof isSettled !== 'boolean') return null;
  return {
    agent,
    path,
    fingerprint,
    sha256: hash,
    thread,
    kin: kin as string[],
    repeated: repeated as number,
    isSettled,
  };
}
