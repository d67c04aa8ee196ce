import { addRollouts } from '../../scripts/archive/add.ts';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { openRepository } from '../../scripts/git/open.ts';
import type { Repository } from '../../scripts/git/types.ts';
import { checkoutsFrom } from '../../scripts/rollout/checkouts.ts';
import { redactedRollouts } from '../../scripts/rollout/redacted.ts';
import { openRollouts } from '../../scripts/rollout/source.ts';
import type { Rollout } from '../../scripts/rollout/types.ts';
import { day, fixedClock, isoTime, parseIsoTime } from '../../scripts/shared/clock.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { parseSnapshotText, valuesOf } from '../../scripts/state/snapshot-text.ts';
import { builtCommands } from './built-commands.ts';
import { type CodexSession, codexText } from './codex-session.ts';
import { type Lots, lotsFrom } from './lots.ts';
import { type Ending, env, temporaryFolder, writeFiles } from './repository.ts';
import { secret } from './soak-hostile.ts';
import { aSoakModel, type SoakModel, soakModelConfig } from './soak-model.ts';
import { aStagedTeam, type StagedTeam } from './stages.ts';

export const handbook = 'memories/MEMORY.md';
export const proposal = 'refs/heads/memory/nightly';
export const stateRef = 'refs/memory/state';
export const people = ['dana', 'kim', 'lee', 'max'] as const;

/** What somebody said in a session; the word at its start is in no other. */
export interface Saying {
  readonly n: number;
  readonly word: string;
  readonly repo: string;
  readonly at: number;
}

/** A team on real servers, and what people know that they did in it. */
export interface Soak {
  readonly t: Ending;
  readonly team: StagedTeam;
  readonly model: SoakModel;
  readonly lots: Lots;
  /** Clones that play the nights; each has the journal of what it paid for. */
  readonly machines: readonly [string, string];
  /** The folder of the programs that are killed. */
  readonly built: string;
  /** The server's repository, opened once for those who send. */
  readonly repository: Repository;
  readonly steps: string[];
  readonly sayings: Saying[];
  readonly sent: Map<string, CodexSession & { readonly author: string }>;
  /** Words that `forget` took out for good. */
  readonly forgotten: Set<string>;
  /** Words of lines that people took away or rejected. */
  readonly removed: Set<string>;
  /** Words that may stand or not. */
  readonly excused: Set<string>;
  /** Lines that people wrote, which need no evidence; those on the default branch stay until people take them away. */
  readonly written: Set<string>;
  readonly notes: Set<string>;
  /** Cited thread, citing thread: each pair one answer. */
  readonly cited: Set<string>;
  /** Ids of all citations that a state ever held. */
  readonly counted: Set<string>;
  /** Numbers of nights whose process was killed: answers on their way to it are lost. */
  readonly kills: Set<number>;
  /** Number of a night → calendar month, by the clock of its machine. */
  readonly months: Map<number, string>;
  /** Seconds: what people's clocks say. */
  now: number;
  sessions: number;
}

export async function aSoak(t: Ending, seed: number): Promise<Soak> {
  const lots = lotsFrom(seed);
  const model = await aSoakModel(t, secret);
  const team = await aStagedTeam(t, '', soakModelConfig(model.baseUrl));
  return {
    t,
    team,
    model,
    lots,
    machines: [team.clone(), team.clone()],
    built: await builtCommands(t, ['nightly']),
    repository: await openRepository(team.dir, { env }),
    steps: [],
    sayings: [],
    sent: new Map(),
    forgotten: new Set(),
    removed: new Set(),
    excused: new Set(),
    written: new Set(),
    notes: new Set(),
    cited: new Set(),
    counted: new Set(),
    kills: new Set(),
    months: new Map(),
    now: (parseIsoTime('2026-09-01T03:17:00Z') ?? Number.NaN) - day,
    sessions: 0,
  };
}

/** ISO time so many hours before now. */
export function hoursAgo({ now }: Soak, hours: number): string {
  return isoTime(now - hours * 3_600);
}

/** A laptop of the person sends the session, redacted. @returns what became of it. */
export async function send(soak: Soak, session: CodexSession, author: string): Promise<readonly string[]> {
  soak.sent.set(session.id, { ...session, author });
  const folder = temporaryFolder(soak.t);
  writeFiles(folder, { [`rollout-${session.id.replace(/[^\w.-]/g, '_')}.jsonl`]: codexText(session) });
  const place = { include: [], checkouts: checkoutsFrom({}), home: '/home/dana' };
  const opened = openRollouts([{ agent: 'codex', path: folder }], place);
  const rollouts = redactedRollouts(opened, createRedactor({}));
  const read: Rollout[] = [];
  for (const { thread } of (await rollouts.list()).found) {
    const rollout = await rollouts.read(thread.id);
    read.push({ ...rollout, thread: { ...rollout.thread, author } });
  }
  const archive = { repository: soak.repository, ref: archiveRef, remote: null };
  return [...(await addRollouts(archive, read, soak.now - 30 * day, { clock: fixedClock(soak.now) })).values()];
}

/** Words of sayings in the handbook of a ref. */
export function wordsAt({ team, sayings }: Soak, ref: string): Set<string> {
  const text = team.tip(ref) === null ? '' : team.file(ref, handbook);
  return new Set(sayings.filter(({ word }) => text.includes(word)).map(({ word }) => word));
}

export function openPull({ team }: Soak) {
  return team.forge.pulls.find(({ state }) => state === 'open') ?? null;
}

/** Where people see the memory that is proposed, or else the reviewed one. */
export function viewOf(soak: Soak): string {
  return openPull(soak) !== null && soak.team.tip(proposal) !== null ? proposal : 'refs/heads/main';
}

export type Rows = readonly Readonly<Record<string, string | number | null>>[];

/** A table of the state ref; no rows where there is no state. */
export function tablesAt(text: string): (name: string) => Rows {
  const tables = text === '' ? [] : parseSnapshotText(text).tables;
  return (name) => {
    const table = tables.find((one) => one.name === name);
    return (table?.rows ?? [])
      .map(valuesOf)
      .map((values) => Object.fromEntries((table?.columns ?? []).map((column, at) => [column, values[at]])) as Rows[0]);
  };
}

export function stateText({ team }: Soak): string {
  return team.tip(stateRef) === null ? '' : team.file(stateRef, 'state.sqlite.json');
}
