import { MemoryError } from '../shared/errors.ts';
import type { Edit } from './edit.ts';
import { readStanding, removeFolders, removeStanding, replaceStanding, type Standing } from './file.ts';
import { type Change, differenceOf, undone } from './record.ts';
import type { Records } from './records.ts';

export type Outcome = 'written' | 'unchanged' | 'removed' | 'absent' | 'left';

/** Where edits are made. */
export interface Desk {
  readonly records: Records<Change>;
  /** Of this process alone. */
  readonly token: string;
  /** The project whose files they are, if they are a project's. */
  readonly within: string | null;
}

/**
 * Makes an edit: first undone as far as it stands, then made anew, so that a file never holds two versions of it.
 * @param pinned the folder of programs that the edit names; null: it names none.
 * @throws MemoryError where the file cannot take it; it is left as it is.
 */
export async function install(edit: Edit, pinned: string | null, { records, token, within }: Desk): Promise<Outcome> {
  const standing = await readStanding(edit.path, within);
  const record = await records.of(edit.path);
  if (standing.bytes !== null && edit.isInstalled(decoded(standing.bytes, edit.path).text)) return 'unchanged';
  const base = baseOf(edit, standing, record);
  const { text, mark } = base === null ? { text: null, mark: '' } : decoded(base, edit.path);
  const next = Buffer.from(mark + edit.install(text), 'utf8');
  const change: Change = {
    path: edit.path,
    ...differenceOf(base, next),
    folders: record?.folders ?? [],
    kept: text === null ? [] : edit.structure(text),
    pinned: [...new Set([...(record?.pinned ?? []), ...(pinned === null ? [] : [pinned])])],
  };
  await records.keep(change);
  const folders = await replaceStanding(edit.path, standing, next, token);
  if (folders.length > 0) await records.keep({ ...change, folders });
  return 'written';
}

/** Undoes an edit: byte for byte where nobody touched the file since, else only what is ours is taken out. */
export async function uninstall(edit: Edit, { records, token, within }: Desk): Promise<Outcome> {
  const standing = await readStanding(edit.path, within);
  const record = await records.of(edit.path);
  if (standing.bytes === null) {
    await removeFolders(record?.folders ?? []);
    await records.drop(edit.path);
    return 'absent';
  }
  const base = baseOf(edit, standing, record);
  if (base !== null && edit.holds(decoded(base, edit.path).text)) return 'left';
  if (base === null) await removeStanding(edit.path, standing, record?.folders ?? []);
  else if (!base.equals(standing.bytes)) await replaceStanding(edit.path, standing, base, token);
  await records.drop(edit.path);
  return base?.equals(standing.bytes) === true ? 'absent' : 'removed';
}

/** The file without the edit; null: without it there is none. */
function baseOf(edit: Edit, { bytes }: Standing, record: Change | null): Buffer | null {
  if (bytes === null) return null;
  const before = record === null ? undefined : undone(record, bytes);
  if (before !== undefined) return before;
  const { text, mark } = decoded(bytes, edit.path);
  const rest = edit.uninstall(text, record?.kept ?? []);
  if (rest === null || (record?.wasAbsent === true && rest !== text && edit.isEmpty(rest))) return null;
  return rest === text ? bytes : Buffer.from(mark + rest, 'utf8');
}

/** @throws MemoryError for what is no UTF-8: writing it back would change it. */
function decoded(bytes: Buffer, path: string): { readonly text: string; readonly mark: string } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.startsWith('\ufeff') ? { text: text.slice(1), mark: '\ufeff' } : { text, mark: '' };
  } catch (cause) {
    throw new MemoryError(
      `${path} is no UTF-8 text, so it was left as it is.`,
      'Save it as UTF-8, then run it again.',
      { cause },
    );
  }
}
