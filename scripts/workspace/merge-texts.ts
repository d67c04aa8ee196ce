import type { Files } from '../shared/files.ts';
import { handbookPath, memorySummaryPath } from './layout.ts';
import { align, tokensOf, type Versions } from './merge-align.ts';
import { buildPart } from './merge-build.ts';
import { type Document, outlineHandbook, outlineSummary } from './merge-outline.ts';
import { renderDocument } from './merge-render.ts';
import { judge } from './merge-verdict.ts';

const outlines = [
  [handbookPath, outlineHandbook],
  [memorySummaryPath, outlineSummary],
] as const;

/**
 * The two files of lines, merged together: what people removed from one does not come back by way of the other.
 * @returns path → text; null where the file goes. Empty where only one side changed them: nothing is to merge.
 */
export function mergeTexts(base: Files, ours: Files, theirs: Files): Map<string, string | null> {
  const merged = new Map<string, string | null>();
  const isSame = (a: Files, b: Files) => outlines.every(([path]) => a.get(path) === b.get(path));
  if (isSame(base, theirs) || isSame(base, ours) || isSame(ours, theirs)) return merged;
  const read = (files: Files) => outlines.map(([path, outline]) => outline(files.get(path) ?? ''));
  const documents = { base: read(base), ours: read(ours), theirs: read(theirs) };
  const roots = (side: readonly Document[]) => side.map(({ root }) => root);
  const tokens = {
    base: tokensOf(roots(documents.base)),
    ours: tokensOf(roots(documents.ours)),
    theirs: tokensOf(roots(documents.theirs)),
  };
  const aligned = outlines.map((_, at) =>
    align(
      {
        base: documents.base[at]?.root ?? null,
        ours: documents.ours[at]?.root ?? null,
        theirs: documents.theirs[at]?.root ?? null,
      },
      tokens,
    ),
  );
  const verdicts = judge(aligned, tokens);
  for (const [at, [path]] of outlines.entries()) {
    const part = aligned[at];
    const root = part === undefined ? null : buildPart(part, verdicts);
    const texts = { base: base.get(path), ours: ours.get(path), theirs: theirs.get(path) };
    const tails = {
      base: documents.base[at]?.tail,
      ours: documents.ours[at]?.tail,
      theirs: documents.theirs[at]?.tail,
    };
    const text = root === null ? '' : renderDocument({ root, tail: chosen(tails) ?? '\n' });
    merged.set(path, text === '' && chosen(texts) === undefined ? null : withLineEnds(text, texts));
  }
  return merged;
}

/** People's where they changed it. */
function chosen<T>({ base, ours, theirs }: Versions<T>): T {
  return base === theirs ? ours : theirs;
}

/** With the line ends of the version whose they are; where that one has both, each line with its own. */
function withLineEnds(text: string, texts: Versions<string | undefined>): string {
  const [base, ours, theirs] = [texts.base, texts.ours, texts.theirs].map(endsOf);
  const ends = (theirs !== null && theirs !== base ? theirs : ours) ?? theirs ?? 'lf';
  return ends === 'mixed' ? text : text.replace(/\r?\n/g, ends === 'crlf' ? '\r\n' : '\n');
}

function endsOf(text = ''): 'lf' | 'crlf' | 'mixed' | null {
  const all = text.split('\n').length - 1;
  const crlf = text.split('\r\n').length - 1;
  if (all === 0) return null;
  if (crlf === 0) return 'lf';
  return crlf === all ? 'crlf' : 'mixed';
}
