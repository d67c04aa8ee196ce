/** Where notes stand in a memory, relative to `memories/`. @source spec §9 */
export const notesFolder = 'extensions/ad_hoc/notes/';

/** Bounds of a note. */
export const noteLimits = {
  /** Bytes of the whole file name. */
  nameBytes: 128,
  /** Bytes of its slug. */
  slugBytes: 80,
  /** UTF-8 bytes of the text. */
  textBytes: 8_192,
  /** UTF-8 bytes of a file that is brought in from another memory. */
  resourceBytes: 65_536,
} as const;

/** A note that may be kept. */
export interface Note {
  /** `YYYY-MM-DDTHH-MM-SS-<slug>.md` */
  readonly name: string;
  /** Verbatim, but for secrets. */
  readonly text: string;
}

export type NoteJudgement =
  | { readonly outcome: 'accepted'; readonly note: Note }
  /** `fault` ends the sentence “The note …”; `remedy` says what to do. */
  | { readonly outcome: 'refused'; readonly fault: string; readonly remedy: string };

/** Whether a note may be kept, and as what. A secret in its name cannot be masked, so such a name is refused. */
export function judgeNote(
  name: string,
  text: string,
  redact: (text: string) => string,
  textBytes: number = noteLimits.textBytes,
): NoteJudgement {
  const refuse = (fault: string, remedy: string): NoteJudgement => ({ outcome: 'refused', fault, remedy });
  if (!isNoteName(name) || redact(name) !== name)
    return refuse('has no proper name', 'Name it YYYY-MM-DDTHH-MM-SS-<slug>.md, the slug of a-z, 0-9 and -.');
  if (text.trim() === '') return refuse('is blank', 'Write what is to be remembered.');
  if (/\p{Surrogate}|\0/u.test(text)) return refuse('is no proper text', 'Write it without NUL and broken characters.');
  if (Buffer.byteLength(text) > textBytes)
    return refuse(`has more than ${textBytes} bytes`, 'Say the one thing that is to be remembered.');
  return { outcome: 'accepted', note: { name, text: redact(text) } };
}

/** `2026-11-30T08-15-00-use-pnpm.md`: a time that there is, a slug that begins with a letter or digit. */
export function isNoteName(name: string): boolean {
  const parts = /^(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2})-([a-z0-9][a-z0-9-]*)\.md$/.exec(name);
  if (parts === null || name.length > noteLimits.nameBytes) return false;
  const [, day = '', hour = '', minute = '', second = '', slug = ''] = parts;
  return slug.length <= noteLimits.slugBytes && isTime(`${day}T${hour}:${minute}:${second}.000Z`);
}

function isTime(iso: string): boolean {
  const time = new Date(iso);
  return !Number.isNaN(time.getTime()) && time.toISOString() === iso;
}
