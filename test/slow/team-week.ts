import type { TestContext } from 'node:test';
import type { CodexSession } from '../support/codex-session.ts';
import { uuid } from '../support/codex-session.ts';
import { aLaptop } from '../support/laptops.ts';
import { git } from '../support/repository.ts';
import { aTeamOnServers, edit } from '../support/team.ts';

/** What was to be so after a part of the week, and what was. */
export interface Check {
  readonly when: string;
  readonly what: string;
  readonly expected: string;
  readonly actual: string;
}

const handbook = 'memories/MEMORY.md';
const proposal = 'refs/heads/memory/nightly';
const note = '- Ask before you touch lib/legacy.';

/** What people say in the week's sessions, by the word that the table names them with. */
const sayings = {
  cents: 'No, prices are integer cents in lib/part1.ts, never floats.',
  tabs: 'No, indent lib/part2.ts with tabs as its neighbours do.',
  jest: 'No, run npm test instead of jest for lib/part3.ts.',
  dates: 'No, dates in lib/part4.ts are ISO strings in UTC.',
  barrels: 'No, never import a barrel file into lib/part5.ts.',
  retries: 'No, requests of lib/part6.ts are retried three times.',
  french: 'No, labels of lib/part7.ts are translated to French first.',
} as const;

type Saying = keyof typeof sayings;

/**
 * A team's week on the loopback interface: three laptops, two repositories, six nights, and a review after each: merge,
 * edit and squash, close, reject, rebase and revert.
 * @param t cleans up after itself.
 */
export async function teamWeek(t: TestContext): Promise<Check[]> {
  const checks: Check[] = [];
  const team = await aTeamOnServers(t);
  const laptops = [aLaptop(t, team.dir), aLaptop(t, team.dir), aLaptop(t, team.dir)];
  const include = ['git.example.test/acme/shop', 'git.example.test/acme/api'];
  for (const laptop of laptops) laptop.allow({ include });
  const check = (when: string, what: string, expected: string | number, actual: string | number) =>
    checks.push({ when, what, expected: String(expected), actual: String(actual) });
  const standing = (ref: string) => {
    const text = team.tip(ref) === null && ref !== 'main' ? '' : team.file(ref, handbook);
    const words = (Object.keys(sayings) as Saying[]).filter((saying) => text.includes(sayings[saying].slice(4)));
    return [...words, ...(text.includes(note) ? ['note'] : [])].join(' ');
  };
  const says = async (who: number, n: number, saying: Saying, repo: string, day: number) => {
    const laptop = laptops[who];
    laptop?.codex({ ...correcting(n, sayings[saying], day), remote: `https://git.example.test/acme/${repo}.git` });
    const { code } = (await laptop?.collect([], { at: `2026-11-${day}T20:00:00Z` })) ?? { code: 1 };
    check(`November ${day}`, `laptop ${who + 1} collects “${saying}” of ${repo}`, 0, code);
  };
  const night = async (day: number, proposed: string, reviewed: string) => {
    const { code } = await team.night(`2026-11-${day}T03:17:00Z`);
    const open = team.forge.pulls.filter(({ state }) => state === 'open').length;
    check(`night ${day}`, 'exit code, open pull requests', '0, 1', `${code}, ${open}`);
    check(`night ${day}`, 'proposed', proposed, standing(proposal));
    check(`night ${day}`, 'on the default branch', reviewed, standing('main'));
  };

  await says(0, 1, 'cents', 'shop', 16);
  await says(1, 2, 'tabs', 'api', 16);
  await night(17, 'cents tabs', '');
  team.merge('merge');
  await says(2, 3, 'jest', 'shop', 17);
  await night(18, 'cents tabs jest', 'cents tabs');
  team.person('memory/nightly', (clone) => edit(clone, handbook, (text) => `${text}${note}\n`));
  team.merge('squash');
  await says(0, 4, 'dates', 'api', 18);
  await night(19, 'cents tabs jest dates note', 'cents tabs jest note');
  team.shut();
  await says(1, 5, 'barrels', 'shop', 19);
  await night(20, 'cents tabs jest barrels note', 'cents tabs jest note');
  team.shut('memory:reject');
  await says(2, 6, 'retries', 'api', 20);
  await night(21, 'cents tabs jest dates retries note', 'cents tabs jest note');
  const before = team.tip('refs/heads/main') ?? '';
  team.merge('rebase');
  team.person('main', (clone) => git(clone, 'revert', '--no-commit', `${before}..HEAD`));
  await says(0, 7, 'french', 'shop', 21);
  await night(22, 'cents tabs jest french note', 'cents tabs jest note');
  check('the week', 'pull requests', 6, team.forge.pulls.length);
  return checks;
}

/** A session in which a person corrects the agent: their words become a preference. */
function correcting(n: number, words: string, day: number): CodexSession {
  return {
    id: uuid(n),
    at: `2026-11-${day}T10:00:00Z`,
    events: [
      { human: `Add a helper number ${n} to lib/part${n}.ts` },
      { edit: [`lib/part${n}.ts`], added: 'export const a = 1;' },
      { run: 'npm test', out: 'FAIL lib/part.test.ts', exit: 1 },
      { says: 'I changed it.' },
      { human: words },
      { edit: [`lib/part${n}.ts`], added: 'export const a = 2;' },
      { run: 'npm test', out: 'ok', exit: 0 },
      { says: 'Done.' },
    ],
  };
}
