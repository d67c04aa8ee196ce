import type { ItemNumber } from '../shared/evidence.ts';
import type { Files } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { evidenceOf } from '../state/evidence.ts';
import { threadByShortId } from '../state/threads.ts';
import { tombstonesOf } from '../state/tombstones.ts';
import type { ThreadRow } from '../state/types.ts';
import { digestPath } from '../workspace/digest.ts';
import { extensionPart } from '../workspace/extension.ts';
import { type Block, type Bullet, bulletsOf, joinBlocks, parseHandbook } from '../workspace/handbook.ts';
import { rawSections, splitHeader } from '../workspace/inputs.ts';
import { everywhere, handbookPath, rawMemoriesPath, type Scope, stemOf } from '../workspace/layout.ts';
import { lineHash, unitsOf } from '../workspace/lines.ts';
import type { RuleContext } from '../workspace/violation.ts';
import { withoutHidden } from './rows.ts';

/** What must not be seen again: items under a tombstone, by the names that files give to their threads. */
export interface Forgotten {
  /** Whether anything at all is hidden: most scopes have nothing. */
  readonly any: boolean;
  hides(threadId: string, n: ItemNumber): boolean;
  /** @param shortId of the thread, as evidence marks show it. */
  hidesShort(shortId: string, n: ItemNumber): boolean;
  /** Whether a person said the item. */
  isPersons(threadId: string, n: ItemNumber): boolean;
}

/** What the tombstones that stand now hide of a scope; of `*`, which reads all, what each thread's own scope hides too. */
export function forgottenIn(state: State, scope: Scope): Forgotten {
  const tombstones = tombstonesOf(state);
  const threads = new Map<string, ThreadRow | null>();
  const threadOf = (shortId: string): ThreadRow | null => {
    const known = threads.get(shortId);
    const thread = known === undefined ? threadByShortId(state, shortId) : known;
    threads.set(shortId, thread);
    return thread;
  };
  const persons = new Map<string, ReadonlySet<ItemNumber>>();
  const personsIn = (threadId: string): ReadonlySet<ItemNumber> => {
    const known = persons.get(threadId);
    if (known !== undefined) return known;
    const said = new Set(evidenceOf(state, threadId).flatMap(({ n, who }) => (who === 'human' ? [n] : [])));
    persons.set(threadId, said);
    return said;
  };
  return {
    any: !tombstones.isEmpty,
    isPersons: (threadId, n) => personsIn(threadId).has(n),
    hides: (threadId, n) => tombstones.hidesEvidence(threadId, n, scope),
    hidesShort: (shortId, n) => {
      const thread = threadOf(shortId);
      const scopes = scope === everywhere ? [scope, thread?.repo ?? scope] : [scope];
      return thread !== null && scopes.some((each) => tombstones.hidesEvidence(thread.threadId, n, each));
    },
  };
}

/**
 * A state of the files to compare with, without what was forgotten since: the difference between it and today's files
 * then shows nobody the words that a person removed.
 * @param standing today's files: a bullet that still stands there is none of them.
 */
export function withoutForgotten(files: Files, standing: Files, forgotten: Forgotten): Files {
  if (!forgotten.any) return files;
  return new Map(
    [...files].map(([path, text]) => {
      if (path === handbookPath || path === digestPath) {
        const kept = hashesIn(standing.get(path) ?? '');
        return [path, textWithout(text, (bullet) => isCited(bullet, forgotten) && !kept.has(lineHash(bullet.raw)))];
      }
      if (path === rawMemoriesPath) return [path, withoutItems(text, forgotten)];
      if (stemOf(path) === null) return [path, text];
      const threadId = splitHeader(text).header.thread_id ?? '';
      return [path, hiddenOf(text, threadId, forgotten)];
    }),
  );
}

/**
 * A scope's files without the bullets that rest on forgotten notes alone: nobody has to be asked for that. Persons' lines
 * stay; a block that held nothing else goes.
 */
export function withoutForgottenNotes(files: Files, forgotten: Forgotten, scope: Scope, context: RuleContext): Files {
  if (!forgotten.any) return files;
  return withoutBullets(
    files,
    ({ raw, evidence }) =>
      evidence.length > 0 &&
      evidence.every(({ thread, items }) =>
        items.every((n) => forgotten.hidesShort(thread, n) && context.evidenceOf(thread, n)?.isNote === true),
      ) &&
      !context.isPersonLine(scope, lineHash(raw)),
  );
}

/** The files without these bullets of the handbook; a block that held nothing else goes. */
function withoutBullets(files: Files, isGone: (bullet: Bullet) => boolean): Files {
  const text = files.get(handbookPath);
  if (text === undefined) return files;
  const { preamble, blocks } = parseHandbook(text);
  const raws = blocks.flatMap((block) => {
    const gone = bulletsOf(block).filter(isGone);
    if (gone.length === 0) return [block.raw];
    const raw = withoutLines(block, gone);
    const left = parseHandbook(raw).blocks[0];
    return left === undefined || (left.tasks.length === 0 && unitsOf(left).length === 0) ? [] : [raw];
  });
  const next = new Map(files);
  if (raws.length === 0 && preamble.trim() === '') next.delete(handbookPath);
  else if (raws.join('') !== blocks.map(({ raw }) => raw).join('')) next.set(handbookPath, joinBlocks(preamble, raws));
  return next;
}

/** A baseline without notes and resources that are gone: what rested on them is settled, by forgetting or for good. */
export function withoutGoneEntries(baseline: Files, ready: Files): Files {
  return new Map([...baseline].filter(([path]) => ready.has(path) || extensionPart(path) === null));
}

/** The handbook's text, or the digest's, without the bullets of which everything is hidden. */
export function withoutHiddenBullets(text: string, forgotten: Forgotten): string {
  if (!forgotten.any) return text;
  return textWithout(
    text,
    ({ evidence }) =>
      evidence.length > 0 && evidence.every(({ thread, items }) => items.every((n) => forgotten.hidesShort(thread, n))),
  );
}

function isCited({ evidence }: Bullet, forgotten: Forgotten): boolean {
  return evidence.some(({ thread, items }) => items.some((n) => forgotten.hidesShort(thread, n)));
}

function hashesIn(text: string): Set<string> {
  return new Set(
    parseHandbook(text)
      .blocks.flatMap(bulletsOf)
      .map(({ raw }) => lineHash(raw)),
  );
}

function textWithout(text: string, isGone: (bullet: Bullet) => boolean): string {
  const { preamble, blocks } = parseHandbook(text);
  const raws = blocks.map((block) => withoutLines(block, bulletsOf(block).filter(isGone)));
  return raws.every((raw, index) => raw === blocks[index]?.raw) ? text : joinBlocks(preamble, raws);
}

function withoutLines(block: Block, bullets: readonly Bullet[]): string {
  const gone = new Set(
    bullets.flatMap(({ line, raw }) => raw.split('\n').map((_, index) => line - block.line + index)),
  );
  if (gone.size === 0) return block.raw;
  return block.raw
    .split('\n')
    .filter((_, index) => !gone.has(index))
    .join('\n');
}

function hiddenOf(text: string, threadId: string, { hides, isPersons }: Forgotten): string {
  return withoutHidden(
    text,
    (n) => hides(threadId, n),
    (n) => isPersons(threadId, n),
  );
}

function withoutItems(text: string, forgotten: Forgotten): string {
  return text
    .split(/^(?=## Thread `)/m)
    .map((part) => {
      const threadId = rawSections(part)[0]?.threadId;
      return threadId === undefined ? part : hiddenOf(part, threadId, forgotten);
    })
    .join('');
}
