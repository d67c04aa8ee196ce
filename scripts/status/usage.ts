import { day, type EpochSeconds } from '../shared/clock.ts';
import { byBinary, type Files } from '../shared/files.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import { listCitations } from '../state/citations.ts';
import type { State } from '../state/database.ts';
import { threadsWithWords } from '../state/outputs.ts';
import { listShown } from '../state/shown.ts';
import { listThreads } from '../state/threads.ts';
import type { CitationRow, ShownRow } from '../state/types.ts';
import { bulletsOf, parseHandbook, scopeOf } from '../workspace/handbook.ts';
import { handbookPath } from '../workspace/layout.ts';

/** How a memory was used within the window. Found, given, read and cited are different things (D56). */
export interface Use {
  /** Sessions in which a search found it. */
  readonly retrieved: number;
  /** Sessions that were given it. */
  readonly injected: number;
  /** Sessions that read it. */
  readonly read: number;
  /** Citations: one a person and day. */
  readonly cited: number;
  /** When the last of them was; null where there is none. */
  readonly last: EpochSeconds | null;
}

export interface ThreadUse extends Use {
  readonly threadId: string;
  readonly shortId: string;
  readonly repo: string;
  readonly title: string;
}

export interface BlockUse extends Use {
  /** Of the handbook, from 1. */
  readonly line: number;
  readonly title: string;
  readonly repo: string;
  /** Short ids. */
  readonly threads: readonly string[];
}

export interface AgentUse {
  readonly agent: string;
  /** Sessions that were given memory. */
  readonly injected: number;
  /** Sessions with an answer that cites. */
  readonly citing: number;
}

export interface Usage {
  readonly windowDays: number;
  /** The most used first. */
  readonly threads: readonly ThreadUse[];
  /** In the handbook's order. */
  readonly blocks: readonly BlockUse[];
  /** By name. */
  readonly agents: readonly AgentUse[];
}

/** Who used what of the memory in the window: of every thread that has a memory or that the handbook names. */
export function usageOf(state: State, memories: Files, windowDays: number, now: EpochSeconds): Usage {
  const events = eventsIn(state, now - windowDays * day, now);
  const blocks = parseHandbook(memories.get(handbookPath) ?? '').blocks.map((block): BlockUse => {
    const threads = [...new Set(bulletsOf(block).flatMap(({ evidence }) => evidence.map(({ thread }) => thread)))];
    return { line: block.line, title: block.title, repo: scopeOf(block) ?? '', threads, ...useOf(threads, events) };
  });
  const remembered = threadsWithWords(state);
  const named = new Set(blocks.flatMap(({ threads }) => threads));
  const threads = listThreads(state).flatMap(({ threadId, repo, title }): ThreadUse[] => {
    const shortId = shortThreadId(threadId);
    if (!named.has(shortId) && !remembered.has(threadId)) return [];
    return [{ threadId, shortId, repo, title, ...useOf([shortId], events) }];
  });
  return { windowDays, threads: threads.sort(byUse), blocks, agents: agentsIn(state, events) };
}

/** The agents that were given memory in the window, or cited some. */
export function agentUses(state: State, windowDays: number, now: EpochSeconds): AgentUse[] {
  return agentsIn(state, eventsIn(state, now - windowDays * day, now));
}

interface Events {
  readonly shown: readonly ShownRow[];
  readonly citations: readonly CitationRow[];
  /** Short id → sessions, by what happened. */
  readonly sessions: Readonly<Record<Kind, ReadonlyMap<string, readonly ShownRow[]>>>;
  /** Short id → citations. */
  readonly votes: ReadonlyMap<string, readonly CitationRow[]>;
}

type Kind = 'retrieved' | 'injected' | 'read';

function eventsIn(state: State, from: EpochSeconds, to: EpochSeconds): Events {
  const within = ({ at }: { at: EpochSeconds }) => at >= from && at <= to;
  const shown = listShown(state).filter(within);
  const citations = listCitations(state).filter((row) => row.kind === 'cited' && within(row));
  const by = (kind: Kind) => grouped(shown.flatMap((row) => row[kind].map((id) => [id, row] as const)));
  return {
    shown,
    citations,
    sessions: { retrieved: by('retrieved'), injected: by('injected'), read: by('read') },
    votes: grouped(citations.map((row) => [shortThreadId(row.cited), row] as const)),
  };
}

function grouped<T>(pairs: readonly (readonly [string, T])[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [value]);
    else group.push(value);
  }
  return groups;
}

/** Of several threads together: a session or a person's day counts once. */
function useOf(threads: readonly string[], { sessions, votes }: Events): Use {
  const rows = (kind: Kind) => new Set(threads.flatMap((id) => sessions[kind].get(id) ?? []));
  const cited = threads.flatMap((id) => votes.get(id) ?? []);
  const [retrieved, injected, read] = [rows('retrieved'), rows('injected'), rows('read')];
  const times = [...retrieved, ...injected, ...read, ...cited].map(({ at }) => at);
  const days = new Set(
    cited.map(({ author, citingThread, at }) => `${author ?? citingThread} ${Math.floor(at / day)}`),
  );
  return {
    retrieved: retrieved.size,
    injected: injected.size,
    read: read.size,
    cited: days.size,
    last: times.length === 0 ? null : times.reduce((latest, at) => Math.max(latest, at)),
  };
}

function agentsIn(state: State, { shown, citations }: Events): AgentUse[] {
  const agentOf = new Map(listThreads(state).map(({ threadId, agent }) => [threadId, agent]));
  const given = shown.filter(({ injected }) => injected.length > 0).map(({ threadId }) => threadId);
  const citing = [...new Set(citations.map(({ citingThread }) => citingThread))];
  const count = (ids: readonly string[], agent: string) => ids.filter((id) => agentOf.get(id) === agent).length;
  return [...new Set([...given, ...citing].flatMap((id) => agentOf.get(id) ?? []))]
    .sort(byBinary)
    .map((agent) => ({ agent, injected: count(given, agent), citing: count(citing, agent) }));
}

function byUse(a: ThreadUse, b: ThreadUse): number {
  return (
    b.cited - a.cited ||
    b.read - a.read ||
    b.retrieved - a.retrieved ||
    b.injected - a.injected ||
    (b.last ?? 0) - (a.last ?? 0) ||
    byBinary(a.threadId, b.threadId)
  );
}
