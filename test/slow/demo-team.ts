import type { TestContext } from 'node:test';
import { textTable } from '../../scripts/shared/text-table.ts';
import { teamWeek } from './team-week.ts';

/** `npm run demo:team`: plays the week, shows what was expected and what is; exits 1 on a difference. */
const usage = `npm run demo:team

Plays a team's week on this machine: 3 laptops, 2 repositories, 6 nights, a Git server and a host on loopback. Prints what
was expected and what is; exits 1 on a difference. Takes no flags; nothing outside a temporary folder is touched.
`;

if (process.argv.length > 2) {
  process.stdout.write(usage);
  process.exit(process.argv.some((one) => one === '--help' || one === '-h') ? 0 : 2);
}
process.stderr.write('A week is played; this takes less than a minute.\n');

const afterwards: (() => unknown)[] = [];
const context = { after: (work: () => unknown) => void afterwards.push(work) } as unknown as TestContext;
try {
  const checks = await teamWeek(context);
  const rows = checks.map(({ when, what, expected, actual }) => [
    when,
    what,
    expected,
    actual,
    expected === actual ? 'as expected' : 'DIFFERENT',
  ]);
  const columns = ['when', 'what', 'expected', 'is', ''].map((name) => ({ name, align: 'left' as const }));
  process.stdout.write(`${textTable(columns, rows, 60).join('\n')}\n`);
  process.exitCode = checks.every(({ expected, actual }) => expected === actual) ? 0 : 1;
} finally {
  for (const work of afterwards.reverse()) await work();
}
