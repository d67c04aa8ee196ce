import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { type CodexSession, type Event, uuid } from './codex-session.ts';
import { forgets } from './forgetting.ts';
import { someWords } from './lots.ts';
import { handbook, hoursAgo, openPull, people, proposal, type Saying, type Soak, send, wordsAt } from './soak.ts';
import { hostileEvents } from './soak-hostile.ts';
import { edit } from './team.ts';
import { citing, givenText } from './usage.ts';

const repositories = ['shop', 'api', 'web'] as const;
const main = 'refs/heads/main';

/** What a day brings: sessions that teach, use memory, grow, are sent twice, or want to do harm. */
export async function sessionsOfADay(soak: Soak): Promise<void> {
  const { lots } = soak;
  for (let left = 1 + lots.below(3); left > 0; left -= 1) await says(soak);
  if (lots.percent(40)) await cites(soak);
  if (lots.percent(25)) await growsAgain(soak);
  if (lots.percent(25)) await comesAgain(soak);
  if (lots.percent(35)) await attacks(soak);
}

/** One thing that a person does to the memory on the server, at once; where it cannot be done now, nothing happens. */
export function peopleStep(soak: Soak): void {
  const step = soak.lots.of([
    'writes',
    'writes',
    'removes',
    'merges',
    'merges',
    'merges',
    'closes',
    'rejects',
  ] as const);
  soak.steps.push(step);
  steps[step](soak);
}

/** `forget --match` of a saying; not while a lease stands that a night which died left behind. */
export async function forgetsAWord(soak: Soak): Promise<void> {
  const { lots, sayings, forgotten, team } = soak;
  const saying = sayings[lots.below(sayings.length)];
  if (saying === undefined || forgotten.has(saying.word) || team.tip('refs/memory/lease') !== null) return;
  soak.steps.push(`forgets ${saying.word}`);
  const args = ['--match', saying.word, '--yes', '--json'];
  const { code, stderr } = await forgets(team.clone(), args, hoursAgo(soak, 1));
  if (code !== 0 && code !== 3) throw new Error(`forget ended with ${code}: ${stderr}`);
  forgotten.add(saying.word);
}

const steps = {
  writes: (soak: Soak) => {
    const note = `- ${someWords(soak.lots, 8)}`;
    const ref = openPull(soak) !== null && soak.lots.percent(50) ? proposal : main;
    if (!/^## User preferences$/m.test(soak.team.tip(ref) === null ? '' : soak.team.file(ref, handbook))) return;
    soak.written.add(note);
    if (ref === main) soak.notes.add(note);
    onBranch(soak, ref, (text) => text.replace(/^## User preferences$/m, `## User preferences\n${note}`));
  },
  removes: (soak: Soak) => {
    const standing = [...wordsAt(soak, main)];
    const word = standing[soak.lots.below(standing.length)];
    if (word === undefined) return;
    soak.removed.add(word);
    onBranch(soak, main, (text) =>
      text
        .split('\n')
        .filter((line) => !line.includes(word))
        .join('\n'),
    );
  },
  merges: (soak: Soak) => {
    const pull = openPull(soak);
    if (pull === null || soak.team.tip(proposal) === null) return;
    const way = soak.lots.of(['merge', 'squash', 'rebase', 'fast-forward'] as const);
    soak.steps.push(way);
    try {
      soak.team.merge(way);
    } catch (error) {
      if (!('stderr' in (error as object))) throw error;
      soak.steps.push('in conflict');
    }
  },
  closes: (soak: Soak) => shuts(soak),
  rejects: (soak: Soak) => shuts(soak, 'memory:reject'),
} as const;

function shuts(soak: Soak, label?: string): void {
  const pull = openPull(soak);
  if (pull === null || soak.team.tip(proposal) === null) return;
  if (label !== undefined) {
    const reviewed = wordsAt(soak, main);
    for (const word of wordsAt(soak, proposal)) if (!reviewed.has(word)) soak.removed.add(word);
  }
  soak.team.shut(label);
}

/** A commit of a person, who keeps notes beside the memory. */
function onBranch({ team }: Soak, ref: string, change: (text: string) => string): void {
  team.person(ref.replace('refs/heads/', ''), (clone) => {
    edit(clone, handbook, change);
    edit(clone, 'NOTES.md', (text) => `${text}.\n`);
  });
}

async function says(soak: Soak): Promise<void> {
  const { lots, sayings } = soak;
  soak.sessions += 1;
  const n = soak.sessions;
  const word = `word${n}x`;
  const repo = lots.of(repositories);
  const at = soak.now - (8 + lots.below(12)) * 3_600;
  sayings.push({ n, word, repo: `git.example.test/acme/${repo}`, at });
  await send(soak, teaching(soak, n, repo, at, `${word} ${someWords(lots, 7)}`), lots.of(people));
}

function teaching(soak: Soak, n: number, repo: string, at: number, words: string): CodexSession {
  return {
    id: uuid(n),
    remote: `https://git.example.test/acme/${repo}.git`,
    at: hoursAgo(soak, (soak.now - at) / 3_600),
    events: [
      { human: `Work on part ${n}` },
      { edit: [`lib/part${n}.ts`], added: 'export const a = 1;' },
      { run: 'npm test', out: `FAIL lib/part${n}.test.ts`, exit: 1 },
      { says: 'I changed it.' },
      { human: words },
      { edit: [`lib/part${n}.ts`], added: 'export const a = 2;' },
      { run: 'npm test', out: 'ok', exit: 0 },
      { says: 'Done.' },
    ],
  };
}

/** A session that was given the reviewed memory, and whose answer names some of it. */
async function cites(soak: Soak): Promise<void> {
  const { lots, team, cited, sayings } = soak;
  const reviewed = wordsAt(soak, main);
  const standing = sayings.filter(({ word }) => reviewed.has(word));
  if (standing.length === 0) return;
  soak.sessions += 1;
  const id = uuid(soak.sessions);
  const named = [...new Set([0, 1, 2].map(() => standing[lots.below(standing.length)]))] as Saying[];
  for (const { n } of named) cited.add(`${uuid(n)} ${id}`);
  const events: Event[] = [
    givenText(team.file(main, handbook)),
    { human: 'nothing to learn: what do you know of this?' },
    { says: citing(named.map(({ n }) => shortThreadId(uuid(n)))) },
  ];
  const remote = 'https://git.example.test/acme/shop.git';
  await send(soak, { id, remote, at: hoursAgo(soak, 9), events }, lots.of(people));
}

/** A session goes on and is sent again, longer. */
async function growsAgain(soak: Soak): Promise<void> {
  const { lots } = soak;
  const recent = soak.sayings.slice(-6);
  const saying = recent[lots.below(recent.length)];
  const before = saying && soak.sent.get(uuid(saying.n));
  if (before === undefined) return;
  const events: Event[] = [...before.events, { run: 'npm run lint', out: `FACT part ${soak.sessions} is linted` }];
  await send(soak, { ...before, events: [...events, { says: 'Linted.' }] }, before.author);
}

/** A laptop sends once more what it had sent, forgotten or not. */
async function comesAgain(soak: Soak): Promise<void> {
  const sent = [...soak.sent.values()].slice(-20);
  const before = sent[soak.lots.below(sent.length)];
  if (before !== undefined) await send(soak, before, before.author);
}

async function attacks(soak: Soak): Promise<void> {
  soak.sessions += 1;
  const n = soak.sessions;
  const repo = soak.lots.of(['shop', 'api', 'web', '../../etc', 'shop%2f..', 'x'.repeat(300)]);
  const session = {
    id: soak.lots.of([uuid(n), `../../../tmp/escape-${n}`, `a b\n${n}`, `${'y'.repeat(200)}${n}`]),
    remote: `https://git.example.test/acme/${repo}.git`,
    at: soak.lots.of([hoursAgo(soak, 10), '9999-12-31T23:59:59Z', '0001-01-01T00:00:00Z']),
    events: hostileEvents(soak.lots, n),
  };
  soak.steps.push('hostile');
  await send(soak, session, soak.lots.of(people));
}
