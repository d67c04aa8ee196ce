/**
 * A laptop in a process of its own: `collect-worker.ts <home> <team> <number>`. For each line on standard input, the
 * number of a round, it has one new session, and the one before has grown; then it collects, looking at everything anew
 * in every third round, and says how it ended.
 */
import { createInterface } from 'node:readline';
import { aFix, uuid } from './codex-session.ts';
import { appUrl, laptopAt } from './laptops.ts';

const [home = '', team = '', number = ''] = process.argv.slice(2);
const laptop = laptopAt(home, team);
const own = (n: number) => Number(number) * 1000 + n;
for await (const line of createInterface({ input: process.stdin })) {
  const round = Number(line);
  laptop.codex(aFix(own(round), [], { remote: appUrl }));
  if (round > 1) laptop.codex(aFix(own(round - 1), [{ human: `Grown in round ${round}.` }], { remote: appUrl }));
  const { code, stderr } = await laptop.collect(round % 3 === 0 ? ['--all'] : []);
  process.stdout.write(code === 0 ? 'done\n' : `${uuid(own(round))}: ${code} ${stderr.replace(/\n/g, ' ')}\n`);
}
