/** What a line of a handbook block is. `prose` is whatever the schema has no place for: a person's. */
export type LineKind =
  | 'title'
  | 'scope'
  | 'applies_to'
  | 'task'
  | 'label'
  | 'reference'
  | 'keywords'
  | 'section'
  | 'bullet'
  | 'continuation'
  | 'heading'
  | 'prose'
  | 'blank';

/** Where in its block a line stands. */
export type Place = 'head' | 'task' | 'references' | 'keywords' | 'preferences' | 'knowledge' | 'failures' | 'other';

export interface BlockLine {
  /** Without its line end. */
  readonly text: string;
  readonly kind: LineKind;
  readonly place: Place;
  /** Inside a code fence, or one of its two marks. */
  readonly fenced: boolean;
}

export const sectionHeadings = {
  preferences: '## User preferences',
  knowledge: '## Reusable knowledge',
  failures: '## Failures and how to do differently',
} as const;

export type SectionName = keyof typeof sectionHeadings;

/** In the order of the schema. */
export const sectionNames = ['preferences', 'knowledge', 'failures'] as const;

export const labels = { references: '### rollout_summary_files', keywords: '### keywords' } as const;

/** Every line of a block with what it is. Nothing is lost: joined with their line ends they are the source again. */
export function readBlockLines(raw: string): BlockLine[] {
  const lines: BlockLine[] = [];
  const reader = new LineReader(hasFences(raw));
  for (const source of raw.split('\n')) {
    const text = source.endsWith('\r') ? source.slice(0, -1) : source;
    reader.read(text);
    lines.push({ text, kind: reader.kind, place: reader.place, fenced: reader.fenced });
  }
  if (raw.endsWith('\n')) lines.pop();
  return lines;
}

/** Whether any line of a block may be one of a code fence's marks. */
export function hasFences(raw: { includes(text: string): boolean }): boolean {
  return raw.includes('```') || raw.includes('~~~');
}

/** Tells line by line of a block what it is, without keeping any: `kind`, `place` and `fenced` are the last line's. */
export class LineReader {
  kind: LineKind = 'title';
  place: Place = 'head';
  fenced = false;
  #isFirst = true;
  #item: 'bullet' | 'afterBlank' | null = null;
  readonly #fences: Fences | null;

  constructor(hasFences: boolean) {
    this.#fences = hasFences ? followFences() : null;
  }

  /** @param text without its line end. Of a line that begins as a bullet, and in a block without fences, the two first characters will do. */
  read(text: string): void {
    this.fenced = this.#fences?.cover(text) ?? false;
    this.kind = kindOf(text, this.#isFirst, this.fenced, this.place, this.#item);
    this.place = placeAfter(this.kind, text, this.place);
    this.#item = itemAfter(this.kind, this.#item);
    this.#isFirst = false;
  }
}

/** Follows a text's code fences, line by line. */
export interface Fences {
  /** Whether a fence covers this next line, or it is one of a fence's two marks. */
  cover(line: string): boolean;
  /** The line that would close the fence that is open; null where none is. */
  closing(): string | null;
}

export function followFences(): Fences {
  let open: { indent: string; mark: string } | null = null;
  return {
    cover: (line) => {
      if (!line.includes('```') && !line.includes('~~~')) return open !== null;
      const match = /^([ \t]{0,12})(`{3,}|~{3,})(.*)$/.exec(line);
      const [indent, mark, rest] = [match?.[1] ?? '', match?.[2] ?? '', match?.[3] ?? ''];
      if (open === null) {
        if (mark === '' || (mark.startsWith('`') && rest.includes('`'))) return false;
        open = { indent, mark };
      } else if (mark.startsWith(open.mark) && rest.trim() === '') open = null;
      return true;
    },
    closing: () => (open === null ? null : `${open.indent}${open.mark}`),
  };
}

function kindOf(
  text: string,
  first: boolean,
  fenced: boolean,
  place: Place,
  item: 'bullet' | 'afterBlank' | null,
): LineKind {
  if (first) return 'title';
  const inItem = item === 'bullet' || (item === 'afterBlank' && patterns.indented.test(text));
  if (fenced) return inItem ? 'continuation' : 'prose';
  if (patterns.bullet.test(text))
    return place === 'references' ? 'reference' : place === 'keywords' ? 'keywords' : 'bullet';
  if (text.trim() === '') return 'blank';
  if (text.trimStart().startsWith('#')) {
    if (patterns.task.test(text)) return 'task';
    if (sectionOf(text) !== null) return 'section';
    if (labelOf(text) !== null && place !== 'head') return 'label';
    if (patterns.heading.test(text)) return 'heading';
  }
  if (place === 'head' && text.startsWith('scope:')) return 'scope';
  if (place === 'head' && text.startsWith('applies_to:')) return 'applies_to';
  return inItem ? 'continuation' : 'prose';
}

function placeAfter(kind: LineKind, text: string, place: Place): Place {
  if (kind === 'task') return 'task';
  if (kind === 'section') return sectionOf(text) ?? 'other';
  if (kind === 'label') return labelOf(text) ?? place;
  if (kind === 'heading' && patterns.highHeading.test(text)) return 'other';
  return place;
}

/** Made once: a pattern that stands in a function is made anew at each of thousands of lines. */
const patterns = {
  indented: /^[ \t]/,
  bullet: /^[-*+][ \t]/,
  task: /^## Task\b/,
  heading: /^#{1,6}([ \t]|$)/,
  highHeading: /^#{1,2}[ \t]/,
} as const;

function itemAfter(kind: LineKind, item: 'bullet' | 'afterBlank' | null): 'bullet' | 'afterBlank' | null {
  if (kind === 'bullet' || kind === 'reference' || kind === 'keywords' || kind === 'continuation') return 'bullet';
  return kind === 'blank' && item !== null ? 'afterBlank' : null;
}

function sectionOf(text: string): SectionName | null {
  return sectionsByHeading.get(text) ?? sectionsByHeading.get(text.trim().toLowerCase()) ?? null;
}

/** As the schema writes them, and in lower case for those that somebody wrote otherwise. */
const sectionsByHeading: ReadonlyMap<string, SectionName> = new Map(
  sectionNames.flatMap((name) => [
    [sectionHeadings[name], name],
    [sectionHeadings[name].toLowerCase(), name],
  ]),
);

function labelOf(text: string): 'references' | 'keywords' | null {
  const wanted = text.trim().toLowerCase();
  if (wanted === labels.references) return 'references';
  return wanted === labels.keywords ? 'keywords' : null;
}
