import { basename, dirname, isAbsolute, join } from 'node:path';
import { parsedJson } from '../shared/json.ts';
import { sha256 } from '../shared/thread-id.ts';
import { fieldsOf } from './fields.ts';
import { textBeside } from './whole-file.ts';

/**
 * The folder that a session took place in. Its transcript does not say: `.project_root` beside `chats/` does, else
 * `projects.json` in Gemini CLI's own folder, by the project's name or by the hash that older versions used.
 * @returns null where neither knows it.
 */
export function projectFolderOf(path: string, projectHash: string | null): string | null {
  const [mark, projects] = projectFilesOf(path);
  if (mark === undefined || projects === undefined) return null;
  const project = dirname(mark);
  const marked = folderIn(textBeside(mark, 4096) ?? '');
  if (marked !== null) return marked;
  const registry = textBeside(projects, 4 * 1024 * 1024);
  const names = Object.entries(fieldsOf(fieldsOf(parsedJson(registry ?? '')).projects));
  const known = names.filter(([folder, name]) => name === basename(project) || sha256(folder) === projectHash);
  return known.length === 1 ? folderIn(known[0]?.[0] ?? '') : null;
}

/** The files that may know it, first the one that is believed. */
export function projectFilesOf(path: string): readonly string[] {
  const chats = chatsAbove(path);
  if (chats === null) return [];
  const project = dirname(chats);
  return [join(project, '.project_root'), join(dirname(dirname(project)), 'projects.json')];
}

/** A sub-agent's transcript is a folder deeper than its parent's. */
function chatsAbove(path: string): string | null {
  const folders = [dirname(path), dirname(dirname(path))];
  return folders.find((folder) => basename(folder) === 'chats') ?? null;
}

function folderIn(text: string): string | null {
  const folder = text.trim();
  return (isAbsolute(folder) || /^[A-Za-z]:[\\/]/.test(folder)) && !/\p{Cc}/u.test(folder) ? folder : null;
}
