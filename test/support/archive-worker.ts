/**
 * A process of its own that works on a rollouts ref: `archive-worker.ts <dir> <action> <argument>`.
 * `add 3,17`: the sessions of these numbers, one commit each. `drop 4`: writes the ref anew without this one.
 */
import { addRollouts } from '../../scripts/archive/add.ts';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { rewriteArchive } from '../../scripts/archive/rewrite.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { fixedClock } from '../../scripts/shared/clock.ts';
import { aRollout, dayAt } from './stored-rollouts.ts';
import { threadId } from './written-sessions.ts';

const [dir = '', action = '', argument = ''] = process.argv.slice(2);
const repository = await openRepository(dir, { env: { PATH: process.env.PATH } });
const archive = { repository, ref: archiveRef, remote: null };
const numbers = argument.split(',').map(Number);
const clock = fixedClock(dayAt(5));
if (action === 'drop') {
  const threads = new Set(numbers.map(threadId));
  process.stdout.write((await rewriteArchive(archive, { threads, notSince: dayAt(4) }, { clock })).join(','));
} else {
  for (const n of numbers) {
    const outcomes = await addRollouts(archive, [aRollout(n, [`Task ${n}.`])], dayAt(0), { clock });
    process.stdout.write(`${[...outcomes.values()].join(',')} `);
  }
}
