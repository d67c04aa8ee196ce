import { type CarriedNote, isNoteRepository, memoryPathOf } from '../archive/note-file.ts';
import { isIncluded } from '../rollout/identity.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import { byBinary, type Files } from '../shared/files.ts';
import { loadPrompt, type PromptName } from '../shared/prompt.ts';
import { sha256, shortThreadId } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import { putEvidence } from '../state/evidence.ts';
import { enqueueConsolidation, heldScopes } from '../state/scopes.ts';
import { getThread, noteAgent, threadByShortId, upsertThread } from '../state/threads.ts';
import { evidenceKey, setTombstone, type Tombstones, tombstonesOf } from '../state/tombstones.ts';
import type { EvidenceRow } from '../state/types.ts';
import {
  type Authority,
  agedResources,
  type ExtensionEntry,
  entriesIn,
  entryOf,
  extensionPath,
  formatEntry,
  importExtension,
  isAged,
  notesExtension,
  withoutHiddenItems,
} from '../workspace/extension.ts';
import { everywhere } from '../workspace/layout.ts';

/** Why a note of the team does not stand in the memory. */
export type NoteLeftOut =
  | 'forgotten'
  | 'repository_not_included'
  | 'aged'
  | 'held'
  | 'short_id_taken'
  | 'nothing_to_read';

export interface NotesTaken {
  /** Everything below `memories/`, with the notes that have come. */
  readonly files: Files;
  /** Paths of notes and resources that stand there for the first time. */
  readonly added: readonly string[];
  readonly leftOut: ReadonlyMap<string, NoteLeftOut>;
  /** Paths of resources whose days are over. */
  readonly aged: readonly string[];
}

export interface NotesPolicy {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Every repository counts as included. */
  readonly all: boolean;
}

/**
 * Brings the notes of the team into the files: each as a file below `extensions/` and a thread whose items its lines
 * can be cited by. What was forgotten is in neither; what stands there stays as people left it.
 * @param found in any order.
 */
export function takeNotes(
  state: State,
  files: Files,
  found: readonly CarriedNote[],
  policy: NotesPolicy,
  redact: (text: string) => string,
  now: EpochSeconds,
): NotesTaken {
  const aged = agedResources(files, now);
  const next = new Map([...files].filter(([path]) => !aged.includes(path)));
  const tombstones = tombstonesOf(state);
  const held = new Set(heldScopes(state));
  const leftOut = new Map<string, NoteLeftOut>();
  const added: string[] = [];
  for (const note of [...found].sort((a, b) => byBinary(memoryPathOf(a), memoryPathOf(b)))) {
    const path = memoryPathOf(note);
    if (next.has(path)) continue;
    const { repo: scope, author, authority, channel, at } = note;
    const text = formatEntry(path, { scope, author, authority, channel, at }, redact(note.text));
    const why = whyLeftOut(note, path, text, { state, tombstones, held, policy, now });
    if (why !== null) leftOut.set(path, why);
    else {
      next.set(path, text);
      added.push(path);
    }
  }
  for (const entry of entriesIn(next)) {
    const said = withoutForgotten(entry, next.get(entry.path) ?? '', tombstones);
    if (said === null) next.delete(entry.path);
    else next.set(entry.path, said);
  }
  seed(next);
  for (const entry of entriesIn(next)) register(state, entry, now);
  return { files: new Map([...next].sort(([a], [b]) => byBinary(a, b))), added, leftOut, aged };
}

/**
 * Forgets the notes and resources that a person took away: they stood in the tree of the last night and stand in none
 * of today's, so nothing that rests on them alone comes back.
 */
export function buryNotes(
  state: State,
  before: Files,
  today: readonly Files[],
  why: Omit<Parameters<typeof setTombstone>[1], 'kind' | 'key'>,
): number {
  let buried = 0;
  for (const { path, threadId, scope, items } of entriesIn(before)) {
    if (today.some((files) => files.has(path))) continue;
    const isNew = items
      .map((n) => setTombstone(state, { ...why, kind: 'evidence', key: evidenceKey(threadId, n, scope) }))
      .includes(true);
    if (!isNew) continue;
    buried += 1;
    if (scope !== everywhere) enqueueConsolidation(state, scope, why.setAt);
  }
  return buried;
}

interface Circumstances {
  readonly state: State;
  readonly tombstones: Tombstones;
  readonly held: ReadonlySet<string>;
  readonly policy: NotesPolicy;
  readonly now: EpochSeconds;
}

function whyLeftOut(
  note: CarriedNote,
  path: string,
  text: string,
  { state, tombstones, held, policy, now }: Circumstances,
): NoteLeftOut | null {
  const entry = entryOf(path, text);
  if (entry === null || entry.items.length === 0) return 'nothing_to_read';
  if (tombstones.hidesAuthor(note.author) || withoutForgotten(entry, text, tombstones) === null) return 'forgotten';
  if (note.kind === 'resource' && isAged(note.name, now)) return 'aged';
  const isIn = policy.all || (isIncluded(note.repo, policy.include) && !isIncluded(note.repo, policy.exclude));
  if (note.repo !== everywhere && !(isIn && isNoteRepository(note.repo))) return 'repository_not_included';
  const isKnown = getThread(state, entry.threadId) !== null;
  if (isKnown) return held.has(entry.scope) ? 'held' : null;
  return threadByShortId(state, shortThreadId(entry.threadId)) === null ? null : 'short_id_taken';
}

function withoutForgotten(entry: ExtensionEntry, text: string, tombstones: Tombstones): string | null {
  return withoutHiddenItems(entry, text, (n) => tombstones.hidesEvidence(entry.threadId, n, entry.scope));
}

const seeds: readonly (readonly [extension: string, prompt: PromptName])[] = [
  [notesExtension, 'extension-ad-hoc'],
  [importExtension, 'extension-import'],
];

/** An extension of ours that has something to say is given its instructions, unless it has some. */
function seed(files: Map<string, string>): void {
  const used = new Set(entriesIn(files).map(({ extension }) => extension));
  for (const [extension, prompt] of seeds) {
    const path = extensionPath({ extension, kind: 'instructions', name: 'instructions.md' });
    if (used.has(extension) && !files.has(path)) files.set(path, loadPrompt(prompt));
  }
}

const whoOf: Readonly<Record<Authority, EvidenceRow['who']>> = { human: 'human', agent: 'assistant', external: 'tool' };

/** A thread of its own, once: whose word it is was settled when it came, whatever its file says later. */
function register(state: State, entry: ExtensionEntry, now: EpochSeconds): void {
  const { threadId, scope, author, authority, channel, body, items } = entry;
  if (getThread(state, threadId) !== null) return;
  if (threadByShortId(state, shortThreadId(threadId)) !== null) return;
  const at = entry.at ?? now;
  upsertThread(state, {
    threadId,
    agent: noteAgent,
    origin: channel,
    author,
    repo: scope,
    aliases: [],
    cwd: '.',
    branch: null,
    commit: null,
    title: entry.name,
    startedAt: at,
    updatedAt: at,
    firstSeenAt: now,
    memoryMode: 'enabled',
  });
  const lines = body.split('\n');
  putEvidence(
    state,
    items.map((n) => ({
      threadId,
      n,
      who: whoOf[authority],
      at,
      line: Number(n),
      srcId: null,
      author,
      hash: sha256(entry.kind === 'note' ? body : (lines[Number(n) - 1] ?? '')),
      hedged: false,
    })),
  );
  if (scope !== everywhere) enqueueConsolidation(state, scope, now);
}
