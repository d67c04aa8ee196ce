import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../shared/errors.ts';
import { byBinary } from '../shared/files.ts';
import { isInShard, type Shard, shardText } from '../shared/shard.ts';
import { answersFolder, offersFolder } from './journal.ts';
import { readEntries } from './journal-answers.ts';
import { lookInto, openFolder } from './journal-files.ts';
import { entryText, type JournalEntry, type ReadFolder, readCounts, underWay } from './journal-records.ts';
import { redactedReply } from './redacted-reply.ts';
import { labelFile, parseLabel, type ShardLabel } from './shard-label.ts';
import type { Usage } from './types.ts';

/** Which answers of shards are believed. */
export interface Believed {
  readonly nights: Nights;
  /** The sessions that may be read; null where that is not known yet: then all. */
  readonly threads: ReadonlySet<string> | null;
}

/** A night that answers may have been asked for → whether one about the session may still be asked for. */
export type Nights = ReadonlyMap<string, (threadId: string) => boolean>;

export interface Offers {
  /** Answers that the night will not have to ask for. */
  readonly answers: number;
  /** What was left out and why, one sentence each. */
  readonly problems: readonly string[];
}

/**
 * Puts the answers that shards of a night paid for beside the night's own journal, before that is opened: the night asks
 * as ever, and what it asks for is answered from there. They come from other machines, so whatever is not as a shard
 * writes it, is of another part, night or session, or is too much, is left out. Of two answers to one question the first
 * stays. Sessions over which a shard died are marked, so that the night reads them last and one at a time.
 * @param from journals of shards, or folders of such, in the order in which they count.
 * @param journal the night's own; made where it is missing and something is offered.
 */
export function takeShards(
  from: readonly string[],
  journal: string,
  believed: Believed,
  redact: (text: string) => string,
): Offers {
  const problems: string[] = [];
  const own = [answersFolder, offersFolder].flatMap((name) => readEntries(lookInto(join(journal, name)), []));
  const known = new Set(own.filter(({ rejected }) => rejected === null).map(({ key }) => key));
  let answers = 0;
  for (const path of from.flatMap((place) => journalsAt(place, problems))) {
    const label = believedLabel(path, believed, problems);
    if (label === null) continue;
    const { shard, night } = label;
    const isMeant = (subject: string) => isInShard(subject, shard) && (believed.threads?.has(subject) ?? true);
    const isOfUse = ({ subject }: Pick<JournalEntry, 'subject'>) => believed.nights.get(night)?.(subject) === true;
    const damaged: string[] = [];
    const written = readEntries(withinBounds(join(path, answersFolder), problems), damaged, largestAnswer);
    const entries = written.slice(0, answersPerSession * mostSessions);
    if (entries.length < written.length) problems.push(holdsMore(path));
    if (damaged.length > 0)
      problems.push(
        `Shard ${shardText(shard)}: ${damaged.length} of its files are damaged, and what is damaged is left out.`,
      );
    const sound = entries.filter((entry) => entry.purpose === 'phase1' && isSound(entry) && isMeant(entry.subject));
    const left = entries.length - sound.length;
    if (left > 0) problems.push(`Shard ${shardText(shard)}: ${left} answers were not asked of it, and are left out.`);
    const used = sound.filter(isOfUse);
    if (used.length === 0 && sound.length > 0) problems.push(ofAnotherNight(path));
    else if (used.length < sound.length)
      problems.push(
        `Shard ${shardText(shard)}: a night has read ${sound.length - used.length} of its sessions since, and those answers are left out.`,
      );
    const fresh = used.filter(({ key }) => !known.has(key));
    const offers = fresh.length === 0 ? null : openFolder(join(journal, offersFolder));
    for (const entry of fresh) {
      known.add(entry.key);
      offers?.writeNow(`${entry.key}.json`, entryText(asPaid(entry, redact)));
    }
    answers += fresh.length;
    markDeaths(path, shard, journal, (subject) => isMeant(subject) && isOfUse({ subject }), problems);
  }
  return { answers, problems };
}

/** A shard never writes more than this for one session. */
const answersPerSession = 4;
const mostSessions = 50_000;
const mostBytes = 256 * 1024 * 1024;
/** Characters of one answer: well above what a model may say. */
const largestAnswer = 1024 * 1024;
const largestFile = 16 * 1024 * 1024;
/** More than any model reads or writes at once. */
const mostTokens = 100_000_000;

/** The folder itself, or those in it, by name. A link leads nowhere. */
function journalsAt(place: string, problems: string[]): string[] {
  if (!isFolder(place)) {
    problems.push(`${place} is no folder, and no journal of a shard is read from there.`);
    return [];
  }
  if (existsSync(join(place, labelFile))) return [place];
  const names = readdirSync(place).filter((name) => isFolder(join(place, name)));
  return names.sort(byBinary).map((name) => join(place, name));
}

function isFolder(path: string): boolean {
  return existsSync(path) && lstatSync(path).isDirectory();
}

function believedLabel(path: string, { nights }: Believed, problems: string[]): ShardLabel | null {
  const label = parseLabel(textOf(path));
  if (label === null) problems.push(`${path} is not what a shard leaves, and is left out.`);
  else if (nights.has(label.night)) return label;
  else problems.push(ofAnotherNight(path));
  return null;
}

function ofAnotherNight(path: string): string {
  return `${path} is of another night, and is left out: its shard has to read for this one.`;
}

function textOf(path: string): string {
  try {
    return lookInto(path).read(labelFile);
  } catch (error) {
    return `unreadable: ${messageOf(error)}`;
  }
}

/** A folder of a shard's journal as far as it is plain and no larger than one can be. */
function withinBounds(folder: string, problems: string[]): ReadFolder {
  if (!isFolder(folder)) return { names: () => [], read: () => '' };
  const inside = lookInto(folder);
  const all = inside.names();
  const kept: string[] = [];
  let bytes = 0;
  for (const file of all.slice(0, answersPerSession * mostSessions)) {
    const size = lstatSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0;
    bytes += size;
    if (size <= largestFile && bytes <= mostBytes) kept.push(file);
  }
  if (kept.length < all.length) problems.push(holdsMore(folder));
  return { names: () => kept, read: inside.read };
}

/** As the ledger can count it. What was rejected a shard leaves to the night. */
function isSound({ usage, usd, rejected }: JournalEntry): boolean {
  const counts: readonly (keyof Usage)[] = ['requests', 'input', 'cached', 'output'];
  const isCounted = counts.every((name) => Number.isSafeInteger(usage[name]) && usage[name] <= mostTokens);
  return rejected === null && isCounted && usage.cached <= usage.input && (usd ?? 0) <= mostTokens;
}

function holdsMore(path: string): string {
  return `${path} holds more than a shard writes; the rest is left out.`;
}

function asPaid(entry: JournalEntry, redact: (text: string) => string): JournalEntry {
  return { ...entry, n: 0, reply: redactedReply(entry.reply, redact), accounted: false, prepaid: false };
}

/** Opening the journal counts them as it counts its own. */
function markDeaths(
  path: string,
  shard: Shard,
  journal: string,
  isMeant: (subject: string) => boolean,
  problems: string[],
): void {
  const { generation } = readCounts(lookInto(path), problems);
  const attempts = withinBounds(join(path, 'attempts'), problems);
  const open = [...underWay(attempts, generation, problems)].filter(isMeant);
  if (open.length === 0) return;
  const marks = openFolder(join(journal, 'attempts'));
  const own = readCounts(lookInto(journal), problems).generation;
  const lines = open.map((begin) => JSON.stringify({ generation: own, begin, key: 'rollout' }));
  marks.writeNow(`shard-${shard.index}-of-${shard.count}.jsonl`, `${lines.join('\n')}\n`);
}
