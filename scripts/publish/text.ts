import { markdownText } from '../shared/escape.ts';
import { everywhere } from '../workspace/layout.ts';
import type { Delta } from './delta.ts';
import type { ScopeDelta } from './delta-types.ts';
import { rejectLabel } from './forge.ts';
import { lookFirst, whyGone } from './look.ts';
import type { NextNight, Proposal } from './proposal.ts';
import { count, counted, fit, grouped, joined, scopeName, short, whole } from './words.ts';

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
    lookFirst(proposal, budgets.look),
    whyGone(proposal.delta, budgets.gone),
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
