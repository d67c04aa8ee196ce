/** Where a bullet stands. `preferences`: under a heading that says neither project nor personal. */
export type Section =
  | 'project'
  | 'personal'
  | 'preferences'
  | 'steps'
  | 'failures'
  | 'knowledge'
  | 'references'
  | 'none';

/** A line of a stage-1 text. `text` of a bullet is without its dash, wrapped lines joined. */
export interface Line {
  readonly kind: 'title' | 'label' | 'bullet' | 'field' | 'words' | 'blank';
  readonly text: string;
  readonly section: Section;
}

/** The headings that a bullet can stand under, as we write them. */
const labels: Readonly<Record<Exclude<Section, 'none'>, string>> = {
  project: 'Preference signals (project):',
  personal: 'Preference signals (personal):',
  preferences: 'Preference signals (project):',
  steps: 'Key steps:',
  failures: 'Failures and how to do differently:',
  knowledge: 'Reusable knowledge:',
  references: 'References:',
};

/**
 * A stage-1 text line by line. Under a label everything is a bullet, a paragraph too: nothing stands there without
 * having to show its evidence.
 */
export function outline(text: string): Line[] {
  const lines: Line[] = [];
  let section: Section = 'none';
  for (const raw of text.split('\n')) {
    const line = raw.trimEnd();
    const label = labelOf(line);
    const before = lines.at(-1);
    if (line.trim() === '' || fenceOrRule.test(line)) lines.push({ kind: 'blank', text: '', section });
    else if (label !== null) {
      section = label;
      lines.push({ kind: 'label', text: label === 'none' ? line.trim() : labels[label], section });
    } else if (title.test(line)) {
      section = 'none';
      lines.push({ kind: 'title', text: line.trim(), section });
    } else if (field.test(line)) lines.push({ kind: 'field', text: line.trim(), section });
    else if (bullet.test(line)) lines.push({ kind: 'bullet', text: line.replace(bullet, '').trim(), section });
    else if (before?.kind === 'bullet') lines[lines.length - 1] = { ...before, text: `${before.text} ${line.trim()}` };
    else lines.push({ kind: section === 'none' ? 'words' : 'bullet', text: line.trim(), section });
  }
  return lines;
}

/** The text again; labels without a bullet and doubled empty lines are left out. */
export function textOfLines(lines: readonly Line[]): string {
  const needed = lines.filter((line, at) => line.kind !== 'label' || line.section === 'none' || hasBullet(lines, at));
  const rows: string[] = [];
  for (const line of needed) {
    const row = line.kind === 'bullet' ? `- ${line.text}` : line.text;
    const isTop = line.kind === 'label' || line.kind === 'title';
    if (row !== '' && isTop && rows.length > 0 && rows.at(-1) !== '') rows.push('');
    if (row !== '' || (rows.length > 0 && rows.at(-1) !== '')) rows.push(row);
  }
  return rows.join('\n').trim();
}

const title = /^#{1,6}\s/;
const bullet = /^\s{0,40}(?:[-*•+]\s+|\d{1,3}[.)]\s+|(?=\[\d{1,3}\]\s))(?=\S)/;
const field = /^(?:task|task_group|task_outcome|description|cwd|keywords|outcome|rollout context):/i;
/** A code fence, or a line that could open or close front matter. */
const fenceOrRule = /^\s{0,8}(?:`{3,}|~{3,}|-{3,}|\.{3,}|={3,})[\w-]{0,20}\s*$/;

const known: readonly (readonly [Section, RegExp])[] = [
  ['project', /^preference signals \(project\)$/],
  ['personal', /^preference signals \(personal\)$/],
  ['preferences', /^(?:user )?preferences?(?: signals?)?$/],
  ['steps', /^key steps$/],
  ['failures', /^failures?(?: and how to do (?:it )?differently)?$/],
  ['knowledge', /^reusable knowledge$/],
  ['references', /^references?$/],
];

/** The section that a line opens; `none` for a label that we do not know; null where it is no label. */
function labelOf(line: string): Section | null {
  if (line.startsWith('-')) return null;
  const name = line
    .slice(0, 120)
    .replace(/[#*_]/g, '')
    .trim()
    .replace(/\s*[:：]$/, '')
    .toLowerCase();
  const section = known.find(([, form]) => form.test(name))?.[0];
  if (section !== undefined) return section;
  return /^[A-Z][\w ()/-]{2,60}:$/.test(line) ? 'none' : null;
}

function hasBullet(lines: readonly Line[], label: number): boolean {
  for (let at = label + 1; at < lines.length; at++) {
    const { kind } = lines[at] ?? { kind: 'title' };
    if (kind === 'bullet') return true;
    if (kind !== 'blank') return false;
  }
  return false;
}
