import type { WireSession, WireUse } from '../wire.ts';
import { counted, dayText, numberText, repositoryName } from '../words.ts';
import { byId, el } from './dom.ts';
import { memory } from './memory.ts';

/** Rows that are shown before somebody asks for all. */
const few = 25;

type Column = Exclude<keyof WireUse, 'last'> | 'last';

const columns: readonly (readonly [Column, string])[] = [
  ['cited', 'Cited'],
  ['read', 'Read'],
  ['found', 'Found'],
  ['given', 'Given'],
  ['last', 'Last used'],
];

/** The table of sessions by use: sorted by the column whose heading is pressed, the most first. */
export function showUse(): void {
  const body = byId('use-rows');
  const buttons = columns.map(([column, label]) => {
    const button = el('button', { type: 'button', class: 'sort' }, label);
    const heading = el('th', { scope: 'col', class: 'number' }, button);
    button.addEventListener('click', () => sortBy(column));
    byId('use-columns').append(heading);
    return { column, heading };
  });
  let shown = [...memory.sessions];
  let all = false;
  const draw = () => {
    body.replaceChildren(...(all ? shown : shown.slice(0, few)).map(rowOf));
    more.hidden = all || shown.length <= few;
  };
  const sortBy = (column: Column) => {
    shown = [...memory.sessions].sort((a, b) => (b.use[column] ?? 0) - (a.use[column] ?? 0));
    for (const { column: other, heading } of buttons)
      if (other === column) heading.setAttribute('aria-sort', 'descending');
      else heading.removeAttribute('aria-sort');
    draw();
  };
  const more = el('button', { type: 'button', class: 'more' }, `Show all ${counted(shown.length, 'session')}`);
  more.addEventListener('click', () => {
    all = true;
    draw();
    body.querySelectorAll('a')[few]?.focus();
  });
  byId('use-more').append(more);
  addEventListener('beforeprint', () => {
    all = true;
    draw();
  });
  draw();
}

function rowOf(session: WireSession): HTMLElement {
  const { title, shortId, repo, use } = session;
  return el(
    'tr',
    {},
    el(
      'th',
      { scope: 'row' },
      el('a', { href: `#S${shortId}`, dir: 'auto' }, title === '' ? shortId : title),
      el('span', { class: 'facts' }, repositoryName(repo), session.named ? '' : ' · not in the handbook'),
    ),
    ...columns.map(([column]) => {
      const value = use[column];
      const text = column === 'last' ? (value === null ? 'never' : dayText(value)) : numberText(value ?? 0);
      return el('td', { class: value === 0 || value === null ? 'number zero' : 'number' }, text);
    }),
  );
}
