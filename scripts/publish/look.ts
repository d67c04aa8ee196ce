import { markdownText } from '../shared/escape.ts';
import { byBinary } from '../shared/files.ts';
import type { Delta } from './delta.ts';
import type { ScopeDelta } from './delta-types.ts';
import type { Links } from './links.ts';
import type { Proposal } from './proposal.ts';
import { count, fit, grouped, joined, rulesText, scopeName, short, whole } from './words.ts';

/**
 * What deserves a look: files that people may edit first, then what code saw to.
 * @param budget characters of the list.
 */
export function lookFirst({ delta, scopes, secrets, links }: Proposal, budget: number): string {
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
  const shown = fit(listed, budget);
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

/**
 * Of each repository, why lines are no longer there.
 * @param budget characters of the list.
 */
export function whyGone({ scopes }: Delta, budget: number): string {
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
  const shown = fit(lines, budget);
  return `### Why lines went\n\n${shown.lines.join('\n')}${shown.more === 0 ? '' : `\n- and ${grouped(shown.more)} more`}`;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, n) => total + n, 0);
}
