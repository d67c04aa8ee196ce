import type { WireLine, WireRepository, WireTopic } from '../wire.ts';
import { counted, repositoryName } from '../words.ts';
import { byId, el, inline, open, whenOpened } from './dom.ts';
import { evidenceOf } from './evidence.ts';
import { memory } from './memory.ts';

/** Below so many lines everything is open from the start. */
const fewLines = 60;

/** The handbook by repository and topic. A repository's lines are made when it is opened. */
export function showTree(): void {
  const lines = memory.repositories.reduce((sum, repository) => sum + lineCount(repository), 0);
  for (const repository of memory.repositories) {
    const details = repositoryOf(repository);
    byId('tree').append(details);
    repositories.push([repository, details]);
    if (lines <= fewLines) open(details);
  }
  addEventListener('beforeprint', () => {
    for (const [, details] of repositories) open(details);
  });
}

/** Opens a line of the handbook and everything around it. @returns null where there is no such line. */
export function openLine(number: number): HTMLElement | null {
  const found = repositories.find(([{ topics }]) =>
    topics.some(({ lines }) => lines.some(({ line }) => line === number)),
  );
  if (found === undefined) return null;
  open(found[1]);
  const line = document.getElementById(`L${number}`);
  if (line instanceof HTMLDetailsElement) open(line);
  return line;
}

const repositories: [WireRepository, HTMLDetailsElement][] = [];

function lineCount({ topics }: WireRepository): number {
  return topics.reduce((sum, { lines }) => sum + lines.length, 0);
}

function repositoryOf(repository: WireRepository): HTMLDetailsElement {
  const facts = [
    counted(repository.topics.length, 'topic'),
    counted(lineCount(repository), 'line'),
    ...(repository.skills.length === 0 ? [] : [counted(repository.skills.length, 'skill')]),
  ];
  const details = el(
    'details',
    { class: 'repository' },
    el('summary', {}, el('h3', {}, repositoryName(repository.id)), el('span', { class: 'facts' }, facts.join(' · '))),
  );
  whenOpened(details, () => details.append(...repository.topics.map(topicOf), ...skillsOf(repository)));
  return details;
}

function topicOf(topic: WireTopic): HTMLElement {
  const { given, found, read, cited } = topic.use;
  const use =
    given + found + read + cited === 0
      ? 'not used yet'
      : `given ${given} · found ${found} · read ${read} · cited ${cited}`;
  const place = topic.cwd === '' || topic.cwd === '.' ? '' : `in ${topic.cwd} · `;
  return el(
    'section',
    { class: 'topic' },
    el('h4', { dir: 'auto' }, topic.title === '' ? 'Without a title' : topic.title),
    el('p', { class: 'quiet' }, `${place}${use}`),
    topic.reuse === '' ? null : el('p', { class: 'quiet', dir: 'auto' }, `Use it: ${topic.reuse}`),
    ...sections.flatMap(([section, heading]) => {
      const lines = topic.lines.filter((line) => line.section === section);
      return lines.length === 0
        ? []
        : [
            el('h5', {}, heading),
            el('ul', { class: 'lines' }, ...lines.map((line) => el('li', { class: 'of-topic' }, lineOf(line)))),
          ];
    }),
  );
}

const sections: readonly (readonly [WireLine['section'], string])[] = [
  ['preferences', 'Preferences'],
  ['knowledge', 'Knowledge'],
  ['failures', 'Failures, and what to do instead'],
  ['note', 'Notes'],
];

const authorities: Readonly<Record<WireLine['authority'], string>> = {
  human: 'a person said so',
  observed: 'a tool showed it',
  agent: 'an agent says so',
  none: 'a person’s own',
};

function lineOf(line: WireLine): HTMLElement {
  const count = line.evidence.length;
  const details = el(
    'details',
    { class: 'line', id: `L${line.line}` },
    el(
      'summary',
      {},
      el('span', { class: 'words', dir: 'auto' }, ...inline(line.text)),
      el(
        'span',
        { class: 'facts facts-of-line' },
        authorities[line.authority],
        count === 0 ? '' : ` · ${counted(count, 'session')}`,
      ),
    ),
  );
  whenOpened(details, () => details.append(evidenceOf(line)));
  return details;
}

function skillsOf({ skills }: WireRepository): HTMLElement[] {
  if (skills.length === 0) return [];
  return [
    el(
      'section',
      { class: 'topic' },
      el('h4', {}, 'Skills'),
      el(
        'dl',
        { class: 'skills' },
        ...skills.flatMap(({ name, description }) => [el('dt', {}, name), el('dd', { dir: 'auto' }, description)]),
      ),
    ),
  ];
}
