import type { WireSession } from '../wire.ts';
import { timeText } from '../words.ts';
import { byId, el } from './dom.ts';
import { itemsOf, sessionFacts } from './evidence.ts';
import { memory, sessionWords } from './memory.ts';

/** Shows a session's words over the page. @returns false where the page has no such session. */
export function openSession(shortId: string): boolean {
  const place = memory.sessions.findIndex((session) => session.shortId === shortId);
  const session = memory.sessions[place];
  if (session === undefined) return false;
  const body = byId('session-body');
  byId('session-title').textContent = session.title === '' ? `Session ${shortId}` : session.title;
  body.replaceChildren(...factsOf(session), el('p', { class: 'quiet' }, 'Opening the words…'));
  if (!dialog().open) dialog().showModal();
  sessionWords().then(
    (words) => {
      const { items, summary } = words[place] ?? { items: [], summary: '' };
      body.replaceChildren(
        ...factsOf(session),
        ...linesOn(place),
        el('h3', {}, 'Its words behind the memory'),
        ...(items.length === 0 ? [el('p', { class: 'quiet' }, 'No item of it is cited.')] : itemsOf(items)),
        ...(summary === '' ? [] : [el('h3', {}, 'What was remembered of it'), el('pre', { dir: 'auto' }, summary)]),
      );
    },
    () => body.replaceChildren(...factsOf(session), el('p', {}, 'This browser cannot unpack the words.')),
  );
  return true;
}

/** Closing it leaves the address as if it had never been open. */
export function watchSession(): void {
  dialog().addEventListener('close', () => {
    if (location.hash.startsWith('#S')) history.replaceState(null, '', location.pathname + location.search);
  });
  byId('session-close').addEventListener('click', () => dialog().close());
}

export function closeSession(): void {
  dialog().close();
}

function dialog(): HTMLDialogElement {
  const element = byId('session');
  if (!(element instanceof HTMLDialogElement)) throw new Error('The page has no dialog.');
  return element;
}

function factsOf(session: WireSession): HTMLElement[] {
  const { given, found, read, cited, last } = session.use;
  const used =
    last === null
      ? 'Not used yet.'
      : `Given ${given}, found ${found}, read ${read}, cited ${cited}; last ${timeText(last)} UTC.`;
  return [
    el('p', { class: 'quiet' }, sessionFacts(session)),
    el('p', { class: 'quiet' }, `${used} Session `, el('code', {}, session.id), ` (${session.shortId})`),
  ];
}

function linesOn(place: number): HTMLElement[] {
  const lines = memory.repositories
    .flatMap(({ topics }) => topics.flatMap(({ lines: all }) => all))
    .filter(({ evidence }) => evidence.some(([session]) => session === place));
  if (lines.length === 0) return [];
  return [
    el('h3', {}, 'Lines that rest on it'),
    el('ul', {}, ...lines.map(({ line, text }) => el('li', {}, el('a', { href: `#L${line}`, dir: 'auto' }, text)))),
  ];
}
