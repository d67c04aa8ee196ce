import type { WireItem, WireLine, WireSession, WireWords } from '../wire.ts';
import { counted, dayText, repositoryName, timeText } from '../words.ts';
import { type Child, el } from './dom.ts';
import { memory, sessionWords } from './memory.ts';

/** What a line rests on: its sessions, and in each the words of the items that it names. */
export function evidenceOf(line: WireLine): HTMLElement {
  const panel = el('div', { class: 'evidence' });
  if (line.evidence.length === 0) {
    panel.append(el('p', { class: 'quiet' }, 'A person’s own line: it names no session.'));
    return panel;
  }
  panel.append(el('p', { class: 'quiet' }, 'Opening the words…'));
  sessionWords().then(
    (words) => panel.replaceChildren(...line.evidence.map(([session, items]) => sourceOf(session, items, words))),
    () => panel.replaceChildren(el('p', { class: 'quiet' }, 'This browser cannot unpack the words.')),
  );
  return panel;
}

/** Items with their words. Of those whose session was not at hand, the lines that were extracted stand once below. */
export function itemsOf(items: readonly WireItem[]): HTMLElement[] {
  const lines = items.flatMap(({ from, text }) => (from === 'extract' ? text.split('\n') : []));
  const list = el('ol', { class: 'items' }, ...items.map(itemOf));
  if (lines.length === 0) return [list];
  return [
    list,
    el('p', { class: 'quiet' }, 'The session itself was not at hand for this page. As it was extracted:'),
    el('blockquote', { class: 'extract', dir: 'auto' }, [...new Set(lines)].join('\n')),
  ];
}

/** One item: its number, who said it, when, and the words. */
function itemOf({ n, who, at, text, from }: WireItem): HTMLElement {
  const head = [`@${n}`, speakers[who] ?? who, at === null ? '' : timeText(at)].filter((part) => part !== '');
  return el(
    'li',
    { class: 'item', 'data-who': who },
    el('p', { class: 'item-head' }, head.join(' · ')),
    from === 'session' ? el('blockquote', { dir: 'auto' }, text) : null,
    from === 'forgotten' || from === 'gone' ? el('p', { class: 'quiet' }, notes[from]) : null,
  );
}

export function sessionFacts({ agent, author, at, repo }: WireSession): string {
  return [agent, author ?? '', dayText(at), repositoryName(repo)].filter((part) => part !== '').join(' · ');
}

const speakers: Readonly<Record<string, string>> = {
  human: 'Person',
  assistant: 'Agent’s answer',
  commentary: 'Agent at work',
  other_agent: 'Another agent',
  harness: 'Agent’s program',
  tool: 'Tool',
};

const notes = {
  forgotten: 'Forgotten: a person took it out of the memory.',
  gone: 'Its words are not kept any more.',
} as const;

function sourceOf(session: number | string, numbers: readonly string[], words: readonly WireWords[]): HTMLElement {
  const known = typeof session === 'number' ? memory.sessions[session] : undefined;
  if (known === undefined || typeof session !== 'number')
    return el(
      'section',
      { class: 'source' },
      el('h6', {}, `Session ${session}`),
      el('p', { class: 'quiet' }, `Items ${numbers.join(', ')}. The memory no longer knows this session.`),
    );
  const items = words[session]?.items.filter(({ n }) => numbers.includes(n)) ?? [];
  const children: Child[] = [
    el('h6', { dir: 'auto' }, known.title === '' ? `Session ${known.shortId}` : known.title),
    el('p', { class: 'quiet' }, sessionFacts(known)),
    ...itemsOf(items),
    el(
      'a',
      { class: 'open-session', href: `#S${known.shortId}` },
      `Open the session`,
      el('span', { class: 'unseen' }, ` ${known.title}`),
    ),
    el('span', { class: 'quiet' }, ` ${counted(words[session]?.items.length ?? 0, 'item')} behind its memory`),
  ];
  return el('section', { class: 'source' }, ...children);
}
