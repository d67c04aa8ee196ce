import { markdownText } from '../shared/escape.ts';
import { byBinary } from '../shared/files.ts';
import { everywhere } from '../workspace/layout.ts';
import type { Delta } from './delta.ts';
import type { ScopeDelta } from './delta-types.ts';
import { rejectLabel } from './forge.ts';
import type { Links } from './links.ts';
import { count, counted, grouped, joined, rulesText, scopeName, short, whole } from './words.ts';

/** Everything a pull request tells; no words of the memory, only names, counts and paths. */
export interface Proposal {
  readonly runId: string;
  /** Nights that this pull request holds. */
  readonly nights: number;
  /** Sessions that were read in these nights. */
  readonly sessions: number;
  readonly delta: Delta;
  readonly scopes: ReadonlyMap<string, ScopeNotes>;
  /** Rule → secrets removed before anything was stored. */
  readonly secrets: Readonly<Record<string, number>>;
  readonly usage: Spent;
  readonly next: NextNight;
  /** null where the host has no addresses. */
  readonly links: Links | null;
}

export interface ScopeNotes {
  /** Lines of persons that the agent had lost and that were put back. */
  readonly restored: number;
  /** Rule → blocks and files that were not accepted. */
  readonly leftOut: Readonly<Record<string, number>>;
}

export interface Spent {
  readonly requests: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  /** Millionths of a dollar; null where a model has no configured price. */
  readonly microUsd: number | null;
}

export interface NextNight {
  /** Sessions that wait. */
  readonly waiting: number;
  /** Sessions that failed and are tried again. */
  readonly failed: number;
  /** Scopes that rest until a session arrives that a closed pull request did not have. */
  readonly held: readonly string[];
}

/** The title, fit to be a squash's subject: counts, and a repository only where its name is a plain one. */
export function titleOf({ delta }: Proposal): string {
  const counts = totals(delta.scopes);
  const parts = joined(counted(counts));
  const repositories = delta.scopes.map(({ scope }) => scope).filter((scope) => scope !== '' && scope !== everywhere);
  return `Memory: ${parts === '' ? 'new inputs, no line changed' : parts}${placeOf(repositories)}`;
}

/**
 * The description, for a reviewer who has a minute: at most 60,000 characters, equal values give equal bytes.
 */
export function bodyOf(proposal: Proposal): string {
  const sections = [
    summary(proposal),
    table(proposal.delta),
    lookFirst(proposal),
    whyGone(proposal.delta),
    verdict(),
    spent(proposal),
    nextNight(proposal.next),
    `<sub>run ${markdownText(short(proposal.runId))}</sub>`,
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

/** Characters of the lists; with what is fixed the body stays below 60,000, and the host's limit is 65,536. */
const budgets = { table: 30_000, look: 14_000, gone: 8_000, held: 3_000 } as const;

function summary({ delta, nights, sessions, links }: Proposal): string {
  const counts = joined(counted(totals(delta.scopes)));
  const from = ` From ${whole(sessions, 'session')} in ${whole(nights, 'night')}.`;
  const diff = links === null ? '' : ` [See the whole change](${links.compare()}).`;
  return `**${counts === '' ? 'No line of the memory changed' : counts}.**${from}${diff}`;
}

const columns = ['learned', 'changed', 'superseded', 'forgotten', 'moved', 'confirmed'] as const;

function table({ scopes }: Delta): string {
  if (scopes.length === 0) return '';
  const rows = scopes.map((scope) => {
    const counts = totals([scope]);
    return `| ${scopeName(scope.scope)} | ${columns.map((column) => grouped(counts[column])).join(' | ')} |`;
  });
  const head = `| repository | ${columns.join(' | ')} |\n|---|${columns.map(() => '--:').join('|')}|`;
  const { lines, more } = fit(rows, budgets.table);
  return `${head}\n${lines.join('\n')}${more === 0 ? '' : `\n\nand ${whole(more, 'more repository', 'more repositories')}.`}`;
}

function lookFirst({ delta, scopes, secrets, links }: Proposal): string {
  const lines = [
    ...delta.scopes.flatMap(({ scope, unverified, relearned = 0, persons, skills }) => [
      ...count(
        relearned,
        (n) => `${scopeName(scope)}: ${whole(n, 'line')} that people had removed, taught again by another session`,
      ),
      ...count(unverified, (n) => `${scopeName(scope)}: ${whole(n, 'line')} with a quote marked (unverified)`),
      ...count(persons.gone, (n) => `${scopeName(scope)}: ${whole(n, 'line')} of people changed or gone`),
      ...skillsText(scope, skills),
    ]),
    ...[...scopes]
      .sort(([a], [b]) => byBinary(a, b))
      .flatMap(([scope, { restored, leftOut }]) => [
        ...count(
          restored,
          (n) => `${scopeName(scope)}: ${whole(n, 'line')} of people put back after the agent lost it`,
        ),
        ...count(sum(leftOut), (n) => `${scopeName(scope)}: ${whole(n, 'part')} left out (${rulesText(leftOut)})`),
      ]),
    ...keptText(delta.scopes),
    ...count(sum(secrets), (n) => `${whole(n, 'secret')} removed before anything was stored (${rulesText(secrets)})`),
  ];
  const listed = [...filesText(delta, links), ...lines].map((line) => `- ${line}`);
  if (listed.length === 0) return '';
  const shown = fit(listed, budgets.look);
  return `### Look at\n\n${shown.lines.join('\n')}${shown.more === 0 ? '' : `\n- and ${grouped(shown.more)} more`}`;
}

/** What a person may edit comes first; generated files are only counted. */
function filesText({ files }: Delta, links: Links | null): string[] {
  const own = files.filter(({ generated }) => !generated).map(({ path, change }) => ({ path, change }));
  const order = ['memories/MEMORY.md', 'memories/memory_summary.md'];
  const rank = (path: string) => (order.indexOf(path) + order.length + 1) % (order.length + 1);
  const listed = own
    .sort((a, b) => rank(a.path) - rank(b.path))
    .slice(0, filesShown)
    .map(({ path, change }) => {
      const name = markdownText(short(path));
      return `${links === null ? name : `[${name}](${links.file(path)})`} ${change}`;
    });
  return [
    ...listed,
    ...count(own.length - listed.length, (n) => `${whole(n, 'more file')} that people may edit`),
    ...count(files.length - own.length, (n) => `${whole(n, 'generated file')} (inputs; nothing to review)`),
  ];
}

const filesShown = 20;

function skillsText(scope: string, { added, changed, removed }: ScopeDelta['skills']): string[] {
  const parts = joined([
    ...count(added, (n) => `${grouped(n)} added`),
    ...count(changed, (n) => `${grouped(n)} changed`),
    ...count(removed, (n) => `${grouped(n)} removed`),
  ]);
  return parts === '' ? [] : [`${scopeName(scope)}: skills ${parts}`];
}

function keptText(scopes: readonly ScopeDelta[]): string[] {
  const kept = scopes.reduce((total, { persons }) => total + persons.kept, 0);
  return count(kept, (n) => `${whole(n, 'line')} of people kept word for word`);
}

function whyGone({ scopes }: Delta): string {
  const lines = scopes.flatMap((scope) => {
    const reasons = joined([
      ...count(scope.corrected, (n) => `${grouped(n)} corrected by a later session`),
      ...count(scope.merged, (n) => `${grouped(n)} merged with another line`),
      ...count(scope.tombstoned, (n) => `${grouped(n)} forgotten on a person's word`),
      ...count(scope.inputLeft, (n) => `${grouped(n)} whose sessions are no longer among the inputs`),
      ...count(scope.unexplained, (n) => `${grouped(n)} **without a reason that code can see**`),
    ]);
    return reasons === '' ? [] : [`- ${scopeName(scope.scope)}: ${reasons}`];
  });
  if (lines.length === 0) return '';
  const shown = fit(lines, budgets.gone);
  return `### Why lines went\n\n${shown.lines.join('\n')}${shown.more === 0 ? '' : `\n- and ${grouped(shown.more)} more`}`;
}

function verdict(): string {
  return [
    '### Your verdict',
    '',
    '- **Merge**: the next sessions read it. Squash and rebase are as good.',
    '- **Edit a line** on this branch: your words stay, and no night changes them.',
    '- **Delete a line**: it is forgotten, and its evidence is never used again.',
    '- **Close**: nothing of it is used; these repositories rest until a new session arrives.',
    `- **Close with the label \`${rejectLabel}\`**: what it rests on is never learned again either.`,
  ].join('\n');
}

function spent({ usage: { requests, input, cached, output, microUsd } }: Proposal): string {
  if (requests === 0) return '### Cost\n\nNo model was asked.';
  const money = microUsd === null ? 'no price configured' : `$${(microUsd / 1_000_000).toFixed(2)}`;
  return `### Cost\n\n${whole(requests, 'request')}, ${grouped(input)} tokens in (${grouped(cached)} cached), ${grouped(output)} out, ${money}.`;
}

function nextNight({ waiting, failed, held }: NextNight): string {
  const parts = [
    ...count(waiting, (n) => `- ${whole(n, 'session waits', 'sessions wait')} to be read or consolidated`),
    ...count(failed, (n) => `- ${whole(n, 'session')} failed and will be tried again`),
    ...heldText(held),
  ];
  return `### The next night\n\n${parts.length === 0 ? 'Nothing waits.' : parts.join('\n')}`;
}

function heldText(held: readonly string[]): string[] {
  if (held.length === 0) return [];
  const { lines, more } = fit(held.map(scopeName), budgets.held);
  return [
    `- held since a pull request was closed, until a new session arrives: ${lines.join(', ')}${more === 0 ? '' : ` and ${grouped(more)} more`}`,
  ];
}

interface Totals {
  readonly learned: number;
  readonly changed: number;
  readonly superseded: number;
  readonly forgotten: number;
  readonly moved: number;
  readonly confirmed: number;
}

function totals(scopes: readonly ScopeDelta[]): Totals {
  const of = (part: (scope: ScopeDelta) => number) => scopes.reduce((total, scope) => total + part(scope), 0);
  return {
    learned: of(({ learned }) => learned),
    changed: of(({ changed }) => changed),
    superseded: of(({ corrected, merged }) => corrected + merged),
    forgotten: of(({ tombstoned, inputLeft, unexplained }) => tombstoned + inputLeft + unexplained),
    moved: of(({ moved }) => moved),
    confirmed: of(({ confirmed }) => confirmed),
  };
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, n) => total + n, 0);
}

/** Whole entries from the front, as many as the characters allow. */
function fit(entries: readonly string[], budget: number): { lines: readonly string[]; more: number } {
  let used = 0;
  const end = entries.findIndex((entry) => {
    used += entry.length + 2;
    return used > budget;
  });
  const lines = end === -1 ? entries : entries.slice(0, end);
  return { lines, more: entries.length - lines.length };
}

function placeOf(repositories: readonly string[]): string {
  const [only] = repositories;
  if (only === undefined) return '';
  if (repositories.length === 1 && isPlain(only)) return ` in ${only}`;
  return ` in ${whole(repositories.length, 'repository', 'repositories')}`;
}

/** A repository's id that no host, mail or CI reads anything into. */
function isPlain(scope: string): boolean {
  return (
    scope.length <= 100 && /^[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.-]*){1,9}$/.test(scope) && !/\bgh-\d/i.test(scope)
  );
}
