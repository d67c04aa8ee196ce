import { byBinary, type Files } from '../shared/files.ts';
import { rawMemoriesPath } from './layout.ts';
import { formatHunk, type Hunk, hunksBetween, wholeHunk } from './unified-diff.ts';

export interface Change {
  readonly path: string;
  /** Added, modified, deleted; a moved file is deleted and added. */
  readonly status: 'A' | 'M' | 'D';
  /** '' where it was not. */
  readonly before: string;
  /** '' where it is no longer. */
  readonly after: string;
}

/** UTF-8 bytes of the diff that consolidation reads. @source codex-rs: the same cap */
const maxDiffBytes = 4_194_304;

/** What differs between two states of the files, by path. */
export function changesBetween(before: Files, after: Files): Change[] {
  return [...new Set([...before.keys(), ...after.keys()])].sort(byBinary).flatMap((path): Change[] => {
    const [old, now] = [before.get(path), after.get(path)];
    if (old === now) return [];
    const status = old === undefined ? 'A' : now === undefined ? 'D' : 'M';
    return [{ path, status, before: old ?? '', after: now ?? '' }];
  });
}

/**
 * The workspace diff that consolidation reads first, as Markdown: the list of changed files and a unified diff with 3
 * lines of context, cut at `maxBytes`. No text inside can end the fence around it.
 */
export function renderChanges(changes: readonly Change[], maxBytes = maxDiffBytes): string {
  const status = changes.map(({ path, status: letter }) => `- ${letter} ${path}`).join('\n') || '- none';
  const diff = renderDiff(changes, maxBytes);
  const fence = '`'.repeat(Math.max(3, longestRun(diff, '`') + 1));
  return `# Memory Workspace Diff\n\nGenerated for this consolidation: read it first, do not edit it.\n\n## Status\n\n${status}\n\n## Diff\n\n${fence}diff\n${diff}${fence}\n`;
}

function renderDiff(changes: readonly Change[], maxBytes: number): string {
  const parts: string[] = [];
  let bytes = 0;
  for (const change of changes) {
    for (const part of diffOf(change)) {
      parts.push(part);
      bytes += Buffer.byteLength(part);
      if (bytes > maxBytes)
        return `${cut(parts.join(''), maxBytes)}\n[workspace diff truncated at ${maxBytes} bytes]\n`;
    }
  }
  return parts.join('');
}

function* diffOf(change: Change): Generator<string> {
  yield headerOf(change);
  if (change.status === 'A') yield* formatted(wholeHunk(change.after, '+'), 0, 0);
  else if (change.status === 'D') yield* formatted(wholeHunk(change.before, '-'), 0, 0);
  else if (change.path === rawMemoriesPath) yield* diffOfSections(change.before, change.after);
  else yield* diffOfTexts(change.before, change.after, 0, 0);
}

function headerOf({ path, status }: Change): string {
  const mode = status === 'A' ? 'new file mode 100644\n' : status === 'D' ? 'deleted file mode 100644\n' : '';
  const [old, fresh] = [status === 'A' ? '/dev/null' : `a/${path}`, status === 'D' ? '/dev/null' : `b/${path}`];
  return `diff --git a/${path} b/${path}\n${mode}--- ${old}\n+++ ${fresh}\n`;
}

function* diffOfTexts(before: string, after: string, oldOffset: number, newOffset: number): Generator<string> {
  const hunks = hunksBetween(before, after);
  if (hunks === null) yield `[replaced: ${linesIn(before)} → ${linesIn(after)} lines]\n`;
  else yield* formatted(hunks, oldOffset, newOffset);
}

/** Thread by thread, so that ten changed threads of thousands cost what ten cost. */
function* diffOfSections(before: string, after: string): Generator<string> {
  const old = sectionsOf(before);
  const fresh = sectionsOf(after);
  const oldKeys = new Set(old.map(({ key }) => key));
  const left = new Set(fresh.map(({ key }) => key));
  const passed = new Set<string>();
  let [oldLine, newLine, at] = [0, 0, 0];
  for (const section of fresh) {
    left.delete(section.key);
    // What stood before this thread and stands nowhere further on is gone; so is what now stands elsewhere.
    for (let gone = old[at]; gone !== undefined && gone.key !== section.key; gone = old[at]) {
      const isNew = !oldKeys.has(section.key) || passed.has(section.key);
      if (isNew && left.has(gone.key)) break;
      yield* formatted(wholeHunk(gone.text, '-'), oldLine, newLine);
      passed.add(gone.key);
      oldLine += gone.lines;
      at += 1;
    }
    const same = old[at];
    if (same?.key === section.key) {
      if (same.text !== section.text) yield* diffOfTexts(same.text, section.text, oldLine, newLine);
      passed.add(same.key);
      oldLine += same.lines;
      at += 1;
    } else yield* formatted(wholeHunk(section.text, '+'), oldLine, newLine);
    newLine += section.lines;
  }
  for (const gone of old.slice(at)) {
    yield* formatted(wholeHunk(gone.text, '-'), oldLine, newLine);
    oldLine += gone.lines;
  }
}

interface Section {
  readonly key: string;
  readonly text: string;
  readonly lines: number;
}

function sectionsOf(text: string): Section[] {
  return text.split(/^(?=## Thread `)/m).map((part) => ({
    key: part.startsWith('## Thread `') ? part.slice(0, part.indexOf('\n') + 1) : '',
    text: part,
    lines: linesIn(part),
  }));
}

function* formatted(hunks: readonly Hunk[], oldOffset: number, newOffset: number): Generator<string> {
  for (const hunk of hunks) yield formatHunk(hunk, oldOffset, newOffset);
}

function linesIn(text: string): number {
  if (text === '') return 0;
  let lines = text.endsWith('\n') ? 0 : 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

function longestRun(text: string, character: string): number {
  let longest = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at)) {
    let end = at;
    while (text[end] === character) end += 1;
    longest = Math.max(longest, end - at);
    at = end;
  }
  return longest;
}

/** The text's first bytes, without a character cut in half. */
function cut(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let end = Math.min(maxBytes, bytes.length);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}
