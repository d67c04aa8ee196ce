import { cleanFiles, cleanStage1, isNamedAfter, plainStem } from '../phase2/clean.ts';
import type { Doomed } from '../phase2/doomed.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { Files } from '../shared/files.ts';
import { forgetRows, type RowsForgotten } from '../state/forget.ts';
import { setMeta } from '../state/meta.ts';
import { listOutputs } from '../state/outputs.ts';
import { enqueueConsolidation } from '../state/scopes.ts';
import { listThreads } from '../state/threads.ts';
import { authorKey, evidenceKey, liftTombstone, listTombstones, onRequest, setTombstone } from '../state/tombstones.ts';
import type { FilesByScope } from '../state/tree.ts';
import type { TombstoneRow } from '../state/types.ts';
import { scopesOfItem } from './choose.ts';
import { type Chosen, doomedOf } from './doomed.ts';
import type { Held } from './held.ts';

/** What is left of everything, and what went. The state is changed in place. */
export interface Applied extends Omit<Held, 'state' | 'rollouts' | 'notes'> {
  readonly doomed: Doomed;
  readonly rows: RowsForgotten;
  /** Tombstones that are new. */
  readonly tombstones: number;
  /** Path → lines that went, of today's memory. */
  readonly lines: ReadonlyMap<string, number>;
  /** The lines themselves, of the memory and of the sessions' outputs: what is looked for afterwards. */
  readonly texts: readonly string[];
  /** What the memory and the outputs still say: words of others may be the same. */
  readonly remaining: string;
}

/**
 * Forgets in values: tombstones first, so that whatever reads them next is kept from it, then rows and files.
 * @param salt for what is kept as a hash.
 */
export function applyForgetting(held: Held, chosen: Chosen, salt: string, runId: string, now: EpochSeconds): Applied {
  const { state } = held;
  const before = outputsText(held);
  const scopes = scopesTouched(held, chosen);
  const doomed = doomedOf(state, chosen);
  setMeta(state, 'salt', salt);
  const standing = new Map(
    listTombstones(state).flatMap((one): [string, string][] =>
      one.liftedAt === null ? [[`${one.kind} ${one.key}`, one.reason]] : [],
    ),
  );
  const tombstones = tombstonesFor(chosen, salt).map((which) =>
    ask(held, { ...which, reason: onRequest, runId, pullRequest: null, setAt: now }, standing),
  );
  const rows = forgetRows(state, {
    hidesThread: doomed.hidesThread,
    hidesItem: doomed.hidesItem,
    author: chosen.author,
    clean: (words, thread) => cleanStage1(words, thread, doomed),
    cleanName: (words, column) => {
      if (!isNamedAfter(words, doomed)) return words;
      return column === 'stem' ? plainStem(words) : column === 'cwd' ? '.' : '';
    },
  });
  const byScope = (scopes: FilesByScope): FilesByScope =>
    new Map([...scopes].map(([scope, files]) => [scope, cleanFiles(files, doomed)]));
  const memories = cleanFiles(held.memories, doomed);
  for (const scope of scopes) enqueueConsolidation(state, scope, now);
  const after = new Set([...outputsText(held), ...linesIn(memories)]);
  const gone = [...before, ...linesIn(held.memories)].filter((line) => !after.has(line));
  return {
    memories,
    baseline: byScope(held.baseline),
    reviewed: byScope(held.reviewed),
    closed: new Map([...held.closed].map(([key, scopes]) => [key, byScope(scopes)])),
    doomed,
    rows,
    tombstones: tombstones.filter(Boolean).length,
    lines: linesGone(held.memories, memories),
    texts: [...new Set(gone)],
    remaining: [...after].join('\n'),
  };
}

function tombstonesFor(chosen: Chosen, salt: string): { kind: TombstoneRow['kind']; key: string }[] {
  return [
    ...[...chosen.threads].map((key) => ({ kind: 'thread' as const, key })),
    ...chosen.items.flatMap((item) =>
      scopesOfItem(item).map((scope) => ({ kind: 'evidence' as const, key: evidenceKey(item.thread, item.n, scope) })),
    ),
    ...(chosen.author === null ? [] : [{ kind: 'author' as const, key: authorKey(salt, chosen.author) }]),
  ];
}

/** One that stands for another reason could be lifted by a line; this one cannot. @returns whether it is new. */
function ask(
  { state }: Held,
  tombstone: Omit<TombstoneRow, 'liftedAt'>,
  standing: ReadonlyMap<string, string>,
): boolean {
  const { kind, key, setAt } = tombstone;
  const before = standing.get(`${kind} ${key}`);
  if (before === onRequest) return false;
  if (before !== undefined) liftTombstone(state, kind, key, setAt);
  return setTombstone(state, tombstone);
}

/** Scopes whose memory has to be looked at again. */
function scopesTouched({ state }: Held, chosen: Chosen): Set<string> {
  const rows = listThreads(state);
  const whole = rows.filter(
    ({ threadId, author }) => chosen.threads.has(threadId) || (author !== null && author === chosen.author),
  );
  return new Set(
    [...whole.map(({ repo }) => repo), ...chosen.items.map(({ repo }) => repo)].filter((repo) => repo !== 'none'),
  );
}

function outputsText({ state }: Held): string[] {
  return listOutputs(state).flatMap(({ rawMemory, rolloutSummary }) => `${rawMemory}\n${rolloutSummary}`.split('\n'));
}

function linesIn(files: Files): string[] {
  return [...files.values()].flatMap((text) => text.split('\n'));
}

function linesGone(before: Files, after: Files): Map<string, number> {
  const gone = new Map<string, number>();
  for (const [path, text] of before) {
    const left = after.get(path);
    if (left === text) continue;
    const kept = new Set((left ?? '').split('\n'));
    gone.set(path, text.split('\n').filter((line) => line.trim() !== '' && !kept.has(line)).length);
  }
  return gone;
}
