import { day, type EpochSeconds, isoTime, parseIsoTime } from '../shared/clock.ts';
import type { ItemNumber } from '../shared/evidence.ts';
import type { Files } from '../shared/files.ts';
import { fitsAName } from '../shared/safe-path.ts';
import { withoutHidden } from '../shared/sanitize.ts';
import { sha256, shortThreadId } from '../shared/thread-id.ts';
import { followFences } from './block-lines.ts';
import { splitHeader } from './inputs.ts';
import { everywhere, type Scope } from './layout.ts';

export const extensionsFolder = 'memories/extensions/';

/** The extension that people's and agents' own notes are in. @source spec §10 */
export const notesExtension = 'ad_hoc';

/** The extension that holds what other memories of a person were brought in from. @source spec §10 */
export const importExtension = 'external_agent_import';

/** Days that a dated resource stands. @source spec §10 */
export const resourceDays = 7;

export type Authority = 'human' | 'agent' | 'external';

/** A file of an extension that consolidation reads. */
export interface ExtensionPart {
  readonly extension: string;
  readonly kind: 'instructions' | 'note' | 'resource';
  /** Of the file. */
  readonly name: string;
}

/** A note or a resource as a thread of its own, whose lines a bullet can cite. */
export interface ExtensionEntry extends ExtensionPart {
  readonly path: string;
  /** `note-<16 hex digits>`, from the path. */
  readonly threadId: string;
  readonly scope: Scope;
  readonly author: string | null;
  readonly authority: Authority;
  readonly channel: string;
  /** null where the file does not say. */
  readonly at: EpochSeconds | null;
  /** The words below the header. */
  readonly body: string;
  /** What evidence may name: `1` for a whole note, the numbers of a resource's lines that hold something. */
  readonly items: readonly ItemNumber[];
}

/** What a note's or an imported file's header says. */
export type ExtensionHeader = Pick<ExtensionEntry, 'scope' | 'author' | 'authority' | 'channel'> & {
  readonly at: EpochSeconds;
};

/** @returns null for a path below `extensions/` that nothing reads: another folder, a deeper one, an odd name. */
export function extensionPart(path: string): ExtensionPart | null {
  const match =
    /^memories\/extensions\/([a-z0-9][a-z0-9_-]{0,63})\/(?:(instructions)|(notes|resources)\/([A-Za-z0-9][A-Za-z0-9._-]{0,124}))\.md$/.exec(
      path,
    );
  const [, extension, instructions, folder, stem] = match ?? [];
  if (extension === undefined) return null;
  if (instructions !== undefined) return { extension, kind: 'instructions', name: 'instructions.md' };
  return { extension, kind: folder === 'notes' ? 'note' : 'resource', name: `${stem}.md` };
}

export function extensionPath({ extension, kind, name }: ExtensionPart): string {
  const folder = kind === 'note' ? 'notes/' : kind === 'resource' ? 'resources/' : '';
  return `${extensionsFolder}${extension}/${folder}${name}`;
}

export function entryThreadId(path: string): string {
  return `note-${sha256(path).slice(0, 16)}`;
}

/**
 * The note or resource that a file holds; null for any other file. Its scope is the header's `repo`, else `*`. Only a
 * note can be a person's word; a resource is an agent's where it was imported, else from outside.
 */
export function entryOf(path: string, text: string): ExtensionEntry | null {
  const part = extensionPart(path);
  if (part === null || part.kind === 'instructions') return null;
  const { header, body } = splitHeader(text);
  if (!fitsAName(header.repo ?? everywhere)) return null;
  const isNote = part.kind === 'note' && part.extension === notesExtension;
  const lines = body.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [String(index + 1)]));
  return {
    ...part,
    path,
    threadId: entryThreadId(path),
    scope: header.repo ?? everywhere,
    author: header.author ?? null,
    authority: isNote
      ? header.authority === 'human'
        ? 'human'
        : 'agent'
      : part.extension === importExtension
        ? 'agent'
        : 'external',
    channel: header.channel ?? 'extension',
    at: parseIsoTime(header.noted_at ?? ''),
    body,
    items: lines.length === 0 ? [] : part.kind === 'note' ? ['1'] : lines.slice(0, mostLines),
  };
}

/** Every note and resource, by path. */
export function entriesIn(files: Files): ExtensionEntry[] {
  return [...files].flatMap(([path, text]) => entryOf(path, text) ?? []);
}

/** The file of a note or an imported resource, with what nobody should find in a memory taken out of its words. */
export function formatEntry(
  path: string,
  { scope, author, authority, channel, at }: ExtensionHeader,
  text: string,
): string {
  const header = [
    `thread: ${shortThreadId(entryThreadId(path))}`,
    `repo: ${scope}`,
    ...(author === null ? [] : [`author: ${author}`]),
    `authority: ${authority}`,
    `channel: ${channel}`,
    `noted_at: ${isoTime(at)}`,
  ];
  return `${header.join('\n')}\n\n${harmless(text)}\n`;
}

/**
 * Dated resources whose time is over: regular files directly in `resources/` of an extension that has instructions.
 * @source spec §10
 */
export function agedResources(files: Files, now: EpochSeconds): string[] {
  return [...files.keys()].filter((path) => {
    const part = extensionPart(path);
    if (part?.kind !== 'resource' || !isAged(part.name, now)) return false;
    return files.has(extensionPath({ extension: part.extension, kind: 'instructions', name: 'instructions.md' }));
  });
}

/** Whether the time that a resource's name begins with lies 7 days back or more. */
export function isAged(name: string, now: EpochSeconds): boolean {
  const parts = /^(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})/.exec(name);
  if (parts === null) return false;
  const [, date = '', hour = '', minute = '', second = ''] = parts;
  const iso = `${date}T${hour}:${minute}:${second}Z`;
  const time = parseIsoTime(iso);
  return time !== null && isoTime(time) === iso && time <= now - resourceDays * day;
}

/** The entry's file without the lines that are hidden, which stay as empty ones; null where nothing is left. */
export function withoutHiddenItems(
  entry: ExtensionEntry,
  text: string,
  isHidden: (n: ItemNumber) => boolean,
): string | null {
  const hidden = new Set(entry.items.filter(isHidden));
  if (hidden.size === 0) return text;
  if (entry.items.every((n) => hidden.has(n))) return null;
  const head = text.slice(0, text.indexOf(entry.body));
  const lines = entry.body.split('\n').map((line, index) => (hidden.has(String(index + 1)) ? '' : line));
  // The first line keeps its place, so that the numbers of those after it stay.
  return `${head}${lines[0] === '' ? '(forgotten)' : lines[0]}\n${lines.slice(1).join('\n').trimEnd()}\n`;
}

/** Lines of one resource that evidence may name. */
const mostLines = 1_000;

/** Without invisible characters, comments, marks that end something else and a code fence left open. */
function harmless(text: string): string {
  const fences = followFences();
  const lines = withoutHidden(text.replace(/\r\n?/g, '\n'))
    .replace(/<(?=\/?commit-to-memory\b)/gi, '&lt;')
    .replace(/(?<!\\)<!--/g, '\\<!--')
    .replace(/^(?=(?:<{7}|>{7}|\|{7})(?: |$))/gm, ' ')
    .trim()
    .split('\n');
  for (const line of lines) fences.cover(line);
  const closing = fences.closing();
  return [...lines, ...(closing === null ? [] : [closing])].join('\n');
}
