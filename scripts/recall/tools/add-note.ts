import { judgeNote, type Note, notesFolder } from '../../workspace/note.ts';
import { readArguments } from './arguments.ts';
import type { MemoryFolder } from './memory-folder.ts';
import { ToolError } from './tool-error.ts';

export interface NoteDesk {
  readonly folder: MemoryFolder;
  readonly redact: (text: string) => string;
  /** Resolves to false where a note of that name waits already. */
  keep(note: Note): Promise<boolean>;
}

/** A new note of the agent's; never another's place. */
export async function addAdHocNote(desk: NoteDesk, given: unknown): Promise<Record<string, never>> {
  const args = readArguments('add_ad_hoc_note', given, ['filename', 'note']);
  const judgement = judgeNote(args.text('filename'), args.text('note'), desk.redact);
  if (judgement.outcome === 'refused') throw new ToolError(`The note ${judgement.fault}.`, judgement.remedy);
  const isTaken = stands(desk.folder, judgement.note.name) || !(await desk.keep(judgement.note));
  if (isTaken)
    throw new ToolError(
      `There is a note “${judgement.note.name}” already.`,
      'Take another name: notes are never replaced.',
    );
  return {};
}

function stands(folder: MemoryFolder, name: string): boolean {
  try {
    folder.find(`${notesFolder}${name}`);
    return true;
  } catch (error) {
    if (error instanceof ToolError) return false;
    throw error;
  }
}
