import { formatItems, type ItemNumber } from '../shared/evidence.ts';
import type { Session } from '../workspace/said.ts';
import { type Fault, type Line as JudgedLine, judgeLine } from '../workspace/verdicts.ts';
import type { Line } from './outline.ts';

/** Which of the two texts, as the model knows it. */
export type Field = 'raw_memory' | 'rollout_summary';

export interface CheckedBullet {
  /** Words and evidence as they may be stored; null where the bullet has to go. */
  readonly text: string | null;
  readonly isUnverified: boolean;
  readonly problems: readonly string[];
}

/** Compares one bullet with the items that it names. */
export type CheckBullet = (line: Line, field: Field) => CheckedBullet;

/** What stands in both texts of a session is judged once. */
export function bulletChecker(session: Session): CheckBullet {
  const judged = new Map<string, readonly Fault[]>();
  const judge = (text: string, section: JudgedLine['section'], items: readonly ItemNumber[]): readonly Fault[] => {
    const key = [section, items.join(','), text].join('\n');
    const known = judged.get(key);
    if (known !== undefined) return known;
    const { faults } = judgeLine({ text, section, evidence: [{ thread: '', items }] }, () => session);
    judged.set(key, faults);
    return faults;
  };
  return (line, field) => checkBullet(line, field, session, judge);
}

function checkBullet(
  line: Line,
  field: Field,
  session: Session,
  judge: (text: string, section: JudgedLine['section'], items: readonly ItemNumber[]) => readonly Fault[],
): CheckedBullet {
  const { words, numbers } = withoutMarks(line.text);
  const named = numbers.filter((number) => session.at(number).length > 0);
  const unknown = numbers.filter((number) => session.at(number).length === 0);
  const problems: string[] = [];
  const say = (problem: string) => problems.push(`${field}, "${excerpt(words)}"${problem}`);
  if (unknown.length > 0) say(`: there is no item ${unknown.slice(0, 5).join(', ')}.`);
  if (named.length === 0) {
    say(': the bullet does not end in the items that it rests on.');
    return field === 'raw_memory' || isPreference(line)
      ? { text: null, isUnverified: false, problems }
      : { text: marked(words), isUnverified: true, problems };
  }
  const speakers = named.flatMap((number) => session.at(number)).map(({ said }) => said.who);
  if (isPreference(line) && !speakers.includes('human')) {
    say(': a preference must name an item of the human, and these are not.');
    return { text: null, isUnverified: false, problems };
  }
  const faults = judge(words, sectionOf(line), named);
  for (const { message } of faults) say(`, items ${named.join(', ')}: ${message}`);
  if (faults.some(({ rule }) => rule === 'evidence.rule')) return { text: null, isUnverified: false, problems };
  const text = faults.length > 0 ? marked(words) : words;
  return { text: `${text} ${formatItems(named)}`, isUnverified: faults.length > 0, problems };
}

function sectionOf(line: Line): JudgedLine['section'] {
  switch (line.section) {
    case 'project':
    case 'personal':
    case 'preferences':
      return 'preferences';
    default:
      return line.section;
  }
}

/** At most 120 characters of a text, on one line: for a problem's sentence. */
export function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= 120 ? line : `${[...line].slice(0, 119).join('')}…`;
}

function isPreference(line: Line): boolean {
  return line.section === 'project' || line.section === 'personal' || line.section === 'preferences';
}

const mark = / ?[([] ?(@ ?\d[\d:.,;@ –-]{0,400})[)\]]/g;
const number = /(?:\d{1,6}:)?\d{1,9}(?:\.\d{1,6})?/g;

/** A bullet without its evidence, however a model wrote it: `(@12, 15)`, `(@12, @15)`, `[@12]`, in its middle too. */
function withoutMarks(text: string): { words: string; numbers: ItemNumber[] } {
  const numbers = new Set<ItemNumber>();
  const words = text
    .replace(mark, (_, items: string) => {
      for (const each of items.match(number) ?? []) numbers.add(each);
      return '';
    })
    .replace(/\s{2,}/g, ' ')
    .trim();
  return { words, numbers: [...numbers].slice(0, 100) };
}

const unverifiedMark = '(unverified)';

function marked(words: string): string {
  return words.endsWith(unverifiedMark) ? words : `${words} ${unverifiedMark}`;
}
