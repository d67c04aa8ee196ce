import { counted, dayText, repositoryName } from '../words.ts';
import { byId, type Child, el } from './dom.ts';
import { memory, sessionWords } from './memory.ts';

interface Entry {
  readonly kind: 'line' | 'session';
  readonly href: string;
  readonly text: string;
  readonly facts: string;
  /** A session's words, to show which of them were found. */
  readonly words: string;
  /** Everything that is searched, folded. */
  readonly folded: string;
}

const most = 50;
let entries: readonly Entry[] | undefined;

/** Looks through lines, topics, repositories and the words of sessions for all words that are asked for. */
export function watchSearch(): void {
  const input = byId('query');
  if (!(input instanceof HTMLInputElement)) throw new Error('The page has no field to search with.');
  input.form?.addEventListener('submit', (event) => event.preventDefault());
  input.addEventListener('input', () => void search(input));
}

async function search(input: HTMLInputElement): Promise<void> {
  entries ??= await allEntries();
  // What was typed while the words were unpacked counts.
  const words = folded(input.value)
    .split(/\s+/)
    .filter((word) => word !== '');
  const found = words.length === 0 ? [] : entries.filter((entry) => words.every((word) => entry.folded.includes(word)));
  byId('found').textContent = words.length === 0 ? '' : countedText(found);
  byId('results').replaceChildren(...found.slice(0, most).map((entry) => resultOf(entry, words)));
}

function countedText(found: readonly Entry[]): string {
  if (found.length === 0) return 'Nothing found. Try fewer or shorter words.';
  const lines = found.filter(({ kind }) => kind === 'line').length;
  const more = found.length > most ? `; the first ${most} are shown` : '';
  return `${counted(lines, 'line')} and ${counted(found.length - lines, 'session')} found${more}.`;
}

async function allEntries(): Promise<Entry[]> {
  const words = await sessionWords().catch(() => []);
  const lines = memory.repositories.flatMap(({ id, topics }) =>
    topics.flatMap(({ title, keywords, lines: all }) =>
      all.map(({ line, text }): Entry => {
        const facts = `${repositoryName(id)} · ${title}`;
        return {
          kind: 'line',
          words: '',
          href: `#L${line}`,
          text,
          facts,
          folded: folded(`${text} ${facts} ${keywords.join(' ')}`),
        };
      }),
    ),
  );
  const sessions = memory.sessions.map((session, place): Entry => {
    const { items = [], summary = '' } = words[place] ?? {};
    const facts = `Session · ${repositoryName(session.repo)} · ${dayText(session.at)}`;
    const text = session.title === '' ? session.shortId : session.title;
    const said = [...items.map((item) => item.text), summary].join(' ');
    const all = [text, facts, session.id, session.shortId, session.author ?? '', said].join(' ');
    return { kind: 'session', href: `#S${session.shortId}`, text, facts, words: said, folded: folded(all) };
  });
  return [...lines, ...sessions];
}

function resultOf({ href, text, facts, words: said }: Entry, words: readonly string[]): HTMLElement {
  const around = partAround(said, words.find((word) => !folded(text).includes(word)) ?? '');
  return el(
    'li',
    { class: 'result' },
    el('a', { href, dir: 'auto' }, ...marked(text, words)),
    around === '' ? null : el('span', { class: 'part', dir: 'auto' }, ...marked(around, words)),
    el('span', { class: 'facts' }, facts),
  );
}

/** What stands around the first place of a word. */
function partAround(said: string, word: string): string {
  const plain = folded(said);
  const at = word === '' || plain.length !== said.length ? -1 : plain.indexOf(word);
  if (at === -1) return '';
  const [from, to] = [Math.max(0, at - 60), at + 100];
  const part = said.slice(from, to).replace(/\s+/g, ' ').trim();
  return `${from > 0 ? '… ' : ''}${part}${to < said.length ? ' …' : ''}`;
}

/** The text with the found words marked, where folding has not changed its length. */
function marked(text: string, words: readonly string[]): Child[] {
  const plain = folded(text);
  if (plain.length !== text.length) return [text];
  const parts: Child[] = [];
  let from = 0;
  while (from < text.length) {
    const hits = words
      .map((word) => ({ at: plain.indexOf(word, from), length: word.length }))
      .filter(({ at }) => at !== -1)
      .sort((a, b) => a.at - b.at || b.length - a.length);
    const [hit] = hits;
    if (hit === undefined) break;
    parts.push(text.slice(from, hit.at), el('mark', {}, text.slice(hit.at, hit.at + hit.length)));
    from = hit.at + hit.length;
  }
  return [...parts, text.slice(from)];
}

/** Without case and accents, so that `Cafe` finds `café`. */
function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
}
