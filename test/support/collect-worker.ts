/**
 * A laptop in a process of its own: `collect-worker.ts <home> <team> <number> <rounds>`. In each round it has one new
 * session, and the one before has grown; then it collects, looking at everything anew in every third round.
 */
import { aFix, uuid } from './codex-session.ts';
import { appUrl, laptopAt } from './laptops.ts';

const [home = '', team = '', number = '', rounds = ''] = process.argv.slice(2);
const laptop = laptopAt(home, team);
for (let round = 1; round <= Number(rounds); round += 1) {
  const own = (n: number) => Number(number) * 1000 + n;
  laptop.codex(aFix(own(round), [], { remote: appUrl }));
  if (round > 1) laptop.codex(aFix(own(round - 1), [{ human: `Grown in round ${round}.` }], { remote: appUrl }));
  const { code, stderr } = await laptop.collect(round % 3 === 0 ? ['--all'] : []);
  if (code !== 0) process.stdout.write(`${uuid(own(round))}: ${code} ${stderr}\n`);
}
