import type { Header } from './inputs.ts';

/** A task's reference to a summary: `- rollout_summaries/<stem>.md (cwd=…, rollout_path=…, …, note)`. */
export interface Reference {
  /** `rollout_summaries/<stem>.md` as written. */
  readonly file: string;
  /** Those of the four fields that are given. */
  readonly fields: Header;
  /** What follows the fields, such as `the retry that worked`. */
  readonly note: string;
}

export const referenceFields = ['cwd', 'rollout_path', 'updated_at', 'thread_id'] as const;

/** @returns null for a line that names no summary. */
export function parseReference(line: string): Reference | null {
  const match =
    /^[-*+][ \t]+`?(?:memories\/)?(rollout_summaries\/[^\s`()]{1,200}\.md)`?[ \t]*(?:\((.*)\))?[ \t]*$/.exec(line);
  if (match?.[1] === undefined) return null;
  const fields: [string, string][] = [];
  const notes: string[] = [];
  const parts = (match[2] ?? '').split(/, (?=(?:cwd|rollout_path|updated_at|thread_id)=)/);
  for (const [index, part] of parts.entries()) {
    const field = /^(cwd|rollout_path|updated_at|thread_id)=(.*)$/.exec(part);
    if (field?.[1] === undefined) {
      if (part.trim() !== '') notes.push(part.trim());
      continue;
    }
    // A folder's name may hold a comma, which the next field ends; of the last field the first comma does.
    const isWhole = field[1] === 'cwd' && index < parts.length - 1;
    const [value = '', ...note] = isWhole ? [field[2] ?? ''] : (field[2] ?? '').split(', ');
    fields.push([field[1], value.trim()]);
    if (note.length > 0) notes.push(note.join(', ').trim());
  }
  return { file: match[1], fields: Object.fromEntries(fields), note: notes.join(', ') };
}

/** The reference's line with the fields that the summary's own header gives. */
export function formatReference(file: string, header: Header, note = ''): string {
  const fields = referenceFields.map((name) => `${name}=${header[name] ?? 'unknown'}`);
  return `- ${file} (${[...fields, ...(note === '' ? [] : [note])].join(', ')})`;
}
